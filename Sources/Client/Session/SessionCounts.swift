/// The server's counts of a session. `received` is the sum of the outcomes and of the frames in
/// flight.
public struct SessionCounts: Sendable, Hashable {
  /// Frames that arrived.
  public var received: UInt64
  /// Frames that the pipeline made.
  public var filtered: UInt64
  /// Frames that came back unchanged.
  public var passedThrough: UInt64
  /// Frames that a cheaper variant made.
  public var degraded: UInt64
  /// Frames that were not made, by reason.
  public var dropped: [DroppedFrame.Reason: UInt64]
  /// Frames without outcome.
  public var inFlight: UInt64
  /// Bytes of pixels that arrived.
  public var bytesIn: UInt64
  /// Bytes of pixels that were sent back.
  public var bytesOut: UInt64
}
