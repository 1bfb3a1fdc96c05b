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
}
