/// Something that a session tells, in the order in which it happened.
///
/// Of periodic counts, advice, one stage's analyses and the connection's state only the newest is kept
/// until it is taken.
public enum SessionEvent: Sendable {
  /// A frame's fate.
  case outcome(FrameOutcome)
  /// A change is in force.
  case applied(AppliedChange)
  /// A change was refused; what was in force goes on.
  case rejected(RejectedChange)
  /// The session's life took a turn.
  case state(SessionState)
  /// What the sender could do better.
  case advice(Advice)
  /// What an analysis stage saw.
  case analysis(Analysis)
  /// The server's counts so far, as often as ``SessionOptions/statsInterval`` asks.
  case stats(SessionCounts)
  /// The connection was lost, or is there again; only with ``SessionOptions/reconnect``.
  case connection(ConnectionEvent)
  /// The server's last counts of this session (after a reconnection: since then); the last event, if
  /// the session ended as it should.
  case finalCounts(SessionCounts)
}
