/// An upright rectangle in the frame.
public struct Region: Sendable, Hashable {
  /// The left top corner.
  public var origin: Point
  /// To the right.
  public var width: Length
  /// Down.
  public var height: Length

  /// States a rectangle.
  public init(origin: Point, width: Length, height: Length) {
    self.origin = origin
    self.width = width
    self.height = height
  }
}
