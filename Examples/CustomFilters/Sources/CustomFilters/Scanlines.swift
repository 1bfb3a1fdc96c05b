import SidelightServer

/// A colour kernel: a function of one pixel and its position. It joins the pass of its neighbours.
struct Scanlines: ColorKernel {
  func callAsFunction(_ pixel: Pixel, at place: PixelPosition) -> Pixel {
    let light: Float = place.y.isMultiple(of: 2) ? 1 : 0.6
    return Pixel(
      red: pixel.red * light, green: pixel.green * light, blue: pixel.blue * light,
      alpha: pixel.alpha)
  }
}
