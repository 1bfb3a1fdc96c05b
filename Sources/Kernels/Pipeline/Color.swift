/// A colour in gamma-encoded sRGB with straight alpha; 0 ... 1, and beyond it where extended range
/// is meant.
public struct Color: Sendable, Hashable {
  /// Red.
  public var red: Double
  /// Green.
  public var green: Double
  /// Blue.
  public var blue: Double
  /// Opacity: 0 is clear, 1 opaque.
  public var alpha: Double

  /// States a colour; opaque unless said otherwise.
  public init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
    self.red = red
    self.green = green
    self.blue = blue
    self.alpha = alpha
  }
}
