/// A function from a pixel and its place to a pixel: a colour filter of your own.
///
/// It joins the strips of its neighbours in the pipeline, so that a chain of such filters is one
/// pass over memory. Conform a struct rather than wrap a closure: its loop is compiled where the
/// type is known, and the call disappears.
///
/// ```swift
/// struct Solarize: ColorKernel {
///   func callAsFunction(_ pixel: Pixel, at place: Place) -> Pixel {
///     Pixel(
///       red: abs(2 * pixel.red - 1), green: abs(2 * pixel.green - 1),
///       blue: abs(2 * pixel.blue - 1), alpha: pixel.alpha)
///   }
/// }
/// ```
public protocol ColorKernel: Sendable {
  /// The pixel's new colour. Must be pure.
  ///
  /// - Parameters:
  ///   - pixel: Gamma-encoded sRGB with straight alpha; 0 ... 1, and beyond where earlier filters
  ///     went there. Alpha is 1 in opaque pictures, and what becomes of it there is ignored.
  ///   - place: Where the pixel lies.
  func callAsFunction(_ pixel: Pixel, at place: Place) -> Pixel

  /// Applies the kernel to a run of pixels. There is no need to write this one: the default calls
  /// the function for each.
  func apply(to strip: ColorStrip)
}

extension ColorKernel {
  @inlinable
  public func apply(to strip: ColorStrip) {
    for index in 0 ..< strip.count {
      let place = Place(x: strip.x + index, y: strip.y, frame: strip.frame)
      strip[index] = self(strip[index], at: place)
    }
  }
}
