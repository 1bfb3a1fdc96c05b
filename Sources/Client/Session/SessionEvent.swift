/// Something that a session tells, in the order in which it happened.
public enum SessionEvent: Sendable {
  /// A frame's fate.
  case outcome(FrameOutcome)
  /// A change is in force; the next frame is the first made with it.
  case applied(revision: UInt64, requestID: UInt64)
  /// A change was refused; what was in force goes on.
  case rejected(requestID: UInt64, reason: String)
  /// The server is shutting down: open a session elsewhere.
  case draining
  /// The server's counts of this session; the last event, if the session ended as it should.
  case finalCounts(SessionCounts)
}

/// The server's counts of a session. `received` is the sum of the others.
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
}
