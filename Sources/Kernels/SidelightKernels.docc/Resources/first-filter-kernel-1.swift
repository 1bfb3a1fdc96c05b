import SidelightServer

struct Scanlines: ColorKernel {
  func callAsFunction(_ pixel: Pixel, at position: PixelPosition) -> Pixel {
    pixel
  }
}
