/// A place in the frame, from the top left corner; x to the right, y down.
public struct Point: Sendable, Hashable {
  /// From the left edge.
  public var x: Length
  /// From the top edge.
  public var y: Length

  public init(x: Length, y: Length) {
    self.x = x
    self.y = y
  }

  /// The place in pixels in a frame of the given size.
  public func pixels(in size: FrameSize) -> (x: Double, y: Double) {
    (self.x.pixels(in: size), self.y.pixels(in: size))
  }

  /// The middle of the frame, whatever its size.
  public static let center = Point(x: Length(0.5, .width), y: Length(0.5, .height))
}
