/// Where pixels come from, round a centre: each from its own place, turned and scaled about the
/// centre by what depends on the distance alone.
struct RadialMap: Sendable {
  /// How a vector from the centre becomes the source's: multiplied by re + i im, as if x + i y (y
  /// down) were a complex number.
  struct Factor: Sendable, Hashable {
    let re: Double
    let im: Double
  }

  /// The centre in pixels from the top left.
  let center: (x: Double, y: Double)
  /// Within this distance of the centre there is nothing; 0 for no hole.
  let hole: Double
  /// Beyond this distance pixels stay.
  let reach: Double
  /// The factor at a distance of less than ``reach``, in pixels. Must be smooth and finite.
  let factor: @Sendable (_ distance: Double) -> Factor

  /// The greatest distance from the centre to anything in a frame.
  static func greatestDistance(
    from center: (x: Double, y: Double), in size: FrameSize
  ) -> Double {
    let x = max(abs(center.x), abs(Double(size.width) - center.x))
    let y = max(abs(center.y), abs(Double(size.height) - center.y))
    return (x * x + y * y).squareRoot()
  }
}
