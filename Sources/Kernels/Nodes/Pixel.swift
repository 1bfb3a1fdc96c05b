/// A colour with alpha, nominally in 0 ... 1. Values beyond are not clamped between filters.
@frozen
public struct Pixel: Sendable, Hashable {
  /// Red.
  public var red: Float
  /// Green.
  public var green: Float
  /// Blue.
  public var blue: Float
  /// Opacity.
  public var alpha: Float

  /// Creates a pixel.
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

/// A pixel's position, and its frame's number.
@frozen
public struct PixelPosition: Sendable, Hashable {
  /// The column, from the left, from 0.
  public var x: Int
  /// The row, from the top, from 0.
  public var y: Int
  /// The frame's number in its stream.
  public var frame: UInt64

  /// Creates a position.
  @inlinable
  public init(x: Int, y: Int, frame: UInt64 = 0) {
    self.x = x
    self.y = y
    self.frame = frame
  }
}
