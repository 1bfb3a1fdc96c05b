/// Where a pixel lies, and in which frame.
@frozen
public struct Place: Sendable, Hashable {
  /// The column, from the left, from 0.
  public var x: Int
  /// The row, from the top, from 0.
  public var y: Int
  /// The frame's number in its stream.
  public var frame: UInt64

  @inlinable
  public init(x: Int, y: Int, frame: UInt64 = 0) {
    self.x = x
    self.y = y
    self.frame = frame
  }
}
