import SidelightWire

/// What a call may know of the connection that it came on.
struct Connection: Sendable {
  /// Names the connection within its listener; never used twice.
  let number: UInt64
  /// Who is at its other end; for Unix sockets only.
  let credentials: PeerCredentials?
  /// What the client proved with in TLS's handshake, if he did. Known when the first call comes.
  var certificate: PeerCertificate?
  /// Runs tasks on the event loop that the connection belongs to.
  let executor: EventLoopExecutor
}
