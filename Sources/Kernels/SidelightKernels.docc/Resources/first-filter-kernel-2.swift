import SidelightServer

struct Scanlines: ColorKernel {
  func callAsFunction(_ pixel: Pixel, at place: PixelPosition) -> Pixel {
    let light: Float = place.y.isMultiple(of: 2) ? 1 : 0.6
    return Pixel(
      red: pixel.red * light, green: pixel.green * light, blue: pixel.blue * light,
      alpha: pixel.alpha)
  }
}
