import SidelightWire

/// A message of a session that is no frame's outcome, as it waits to be written.
enum OutgoingNotice: Sendable {
  /// The message itself.
  case message(Sidelight_V1_ServerMessage)
  /// The state of the session at the time of writing. At most one waits.
  case state
}
