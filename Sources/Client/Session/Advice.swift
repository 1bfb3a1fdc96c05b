/// What the sender could do better, from the server's point of view.
public struct Advice: Sendable, Hashable {
  /// The filter or part of the server that takes the most time: "gaussianBlur", "queue", "output".
  public var bottleneck: String
  /// Frames a second that would get through. `nil`: no advice.
  public var suggestedFPS: Double?
  /// Scale of width and height, 0 ... 1, that would get through. `nil`: no advice.
  public var suggestedScale: Double?
}
