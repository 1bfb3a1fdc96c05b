/// Where a server stands between start and end.
public enum ServerPhase: String, Sendable, Hashable, Codable {
  /// It does not listen yet. Goes to ``serving``, or ``draining``.
  case starting
  /// It takes sessions. Goes to ``draining``.
  case serving
  /// It takes no more sessions, and ends those that stand. The last.
  case draining
}
