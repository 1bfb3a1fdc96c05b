/// A function from a pixel's neighbourhood to a pixel: a spatial filter of your own.
///
/// Whatever the frame's format, it sees RGB. Where there is alpha, colour is premultiplied; beyond
/// the frame's edges lie the pixels at the edges.
///
/// ```swift
/// struct Emboss: NeighborhoodKernel {
///   var reach: Int { 1 }
///   func callAsFunction(_ window: PixelWindow, at place: Place) -> Pixel {
///     let (low, high) = (window[-1, -1], window[1, 1])
///     let gray = (high.green - low.green) + 0.5
///     return Pixel(red: gray, green: gray, blue: gray, alpha: window[0, 0].alpha)
///   }
/// }
/// ```
public protocol NeighborhoodKernel: Sendable {
  /// How far the kernel looks in each direction, in pixels: 0 ... 64.
  var reach: Int { get }

  /// The pixel's new colour. Must be pure.
  func callAsFunction(_ window: PixelWindow, at place: Place) -> Pixel

  /// Applies the kernel to a row. There is no need to write this one: the default calls the function
  /// for each pixel.
  func apply(_ window: PixelWindow, to strip: ColorStrip)
}

extension NeighborhoodKernel {
  @inlinable
  public func apply(_ window: PixelWindow, to strip: ColorStrip) {
    var window = window
    for index in 0 ..< strip.count {
      window.x = strip.x + index
      strip[index] = self(window, at: Place(x: window.x, y: strip.y, frame: strip.frame))
    }
  }
}
