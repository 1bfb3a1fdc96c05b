import SidelightKernels

/// A custom colour kernel, as in the documentation of `ColorKernel`.
struct Solarize: ColorKernel {
  func callAsFunction(_ pixel: Pixel, at position: PixelPosition) -> Pixel {
    Pixel(
      red: abs(2 * pixel.red - 1), green: abs(2 * pixel.green - 1),
      blue: abs(2 * pixel.blue - 1), alpha: pixel.alpha)
  }
}
