import SidelightServer

struct Scanlines: ColorKernel {
  func callAsFunction(_ pixel: Pixel, at place: PixelPosition) -> Pixel {
    pixel
  }
}
