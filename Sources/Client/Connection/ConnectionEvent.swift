public import SidelightWire

/// A turn of a session's connection.
public enum ConnectionEvent: Sendable {
  /// There is no connection, because of `cause`. The `attempt`-th attempt (from 1) to open another is
  /// made after `delay`. Until then frames follow ``ReconnectPolicy/failOpen``.
  case interrupted(cause: any Error, attempt: Int, delay: Duration)
  /// The session goes on at `address`. `isResumed`: the server restored it; else the server did not
  /// take the token (it expired, or was another fleet's), and the session was opened anew with the
  /// pipeline that was asked for last; an operator's override is then gone.
  case restored(address: Address, isResumed: Bool)
}
