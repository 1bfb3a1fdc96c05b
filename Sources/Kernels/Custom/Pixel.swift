/// A colour with alpha, in units of 0 ... 1 and beyond: nothing is clamped between filters.
@frozen
public struct Pixel: Sendable, Hashable {
  public var red: Float
  public var green: Float
  public var blue: Float
  public var alpha: Float

  @inlinable
  public init(red: Float, green: Float, blue: Float, alpha: Float = 1) {
    self.red = red
    self.green = green
    self.blue = blue
    self.alpha = alpha
  }

  /// Rec. 709 luma: .2126 r + .7152 g + .0722 b.
  @inlinable
  public var luma: Float { 0.2126 * self.red + 0.7152 * self.green + 0.0722 * self.blue }
}
