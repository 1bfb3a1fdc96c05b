import SidelightServer

/// A colour kernel: a function of one pixel and its position. It joins the pass of its neighbours.
struct Scanlines: ColorKernel {
  func callAsFunction(_ pixel: Pixel, at position: PixelPosition) -> Pixel {
    let light: Float = position.y.isMultiple(of: 2) ? 1 : 0.6
    return Pixel(
      red: pixel.red * light, green: pixel.green * light, blue: pixel.blue * light,
      alpha: pixel.alpha)
  }
}
