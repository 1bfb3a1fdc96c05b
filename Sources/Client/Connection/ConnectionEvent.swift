public import SidelightWire

/// A change of a session's connection.
public enum ConnectionEvent: Sendable {
  /// The connection was lost, or could not be opened, because of `cause`. Attempt `attempt`,
  /// counted from 1, follows after `delay`. Until then ``ReconnectPolicy/failOpen`` applies to
  /// frames.
  case interrupted(cause: any Error, attempt: Int, delay: Duration)
  /// The session continues at `address`. `isResumed` is `true` if the server restored its state. It
  /// is `false` if the server rejected the resume token (expired, or issued by another fleet): the
  /// session was then reopened using the client's last selected pipeline, without an operator's
  /// override.
  case restored(address: Address, isResumed: Bool)
}
