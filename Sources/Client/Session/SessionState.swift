/// Where a session stands at the server.
public enum SessionState: Sendable, Hashable {
  /// Frames are filtered.
  case running
  /// Frames end unfiltered.
  case paused
  /// An operator's pipeline is in force, for the reason that is given.
  case overridden(reason: String)
  /// The server is shutting down. With ``SessionOptions/reconnect`` the session moves; else open one
  /// elsewhere.
  case draining
  /// A state that this library does not know.
  case other
}
