import SidelightKernels

/// A user's colour kernel, as the guide to writing filters has it.
struct Solarize: ColorKernel {
  func callAsFunction(_ pixel: Pixel, at place: Place) -> Pixel {
    Pixel(
      red: abs(2 * pixel.red - 1), green: abs(2 * pixel.green - 1),
      blue: abs(2 * pixel.blue - 1), alpha: pixel.alpha)
  }
}
