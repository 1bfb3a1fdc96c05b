#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The control socket between a supervisor and one worker. The supervisor sends a secret, the
/// worker reports that it is ready, and each detects the end of the other, whatever its cause.
struct ControlLine: Sendable {
  /// The length of the secret in bytes.
  static let secretBytes = 32

  /// The descriptor of this end.
  let descriptor: Int32

  /// Creates a connected pair of sockets.
  ///
  /// - Throws: ``SystemFailure``.
  static func pair() throws(SystemFailure) -> (supervisor: ControlLine, worker: ControlLine) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Self.stream, 0, &ends) == 0 else {
      throw SystemFailure(call: "socketpair", code: errno)
    }
    return (ControlLine(descriptor: ends[0]), ControlLine(descriptor: ends[1]))
  }

  /// Sends bytes. They always fit into the socket's buffer. Failures are ignored: the end of the
  /// peer is detected elsewhere.
  func say(_ bytes: [UInt8]) { _ = send(self.descriptor, bytes, bytes.count, Self.quietly) }

  /// Receives bytes, and blocks until they arrive.
  ///
  /// - Returns: The requested number of bytes; fewer if the peer has closed its end.
  func hear(_ count: Int) -> [UInt8] {
    var heard: [UInt8] = []
    while heard.count < count {
      var bytes = [UInt8](repeating: 0, count: count - heard.count)
      let read = recv(self.descriptor, &bytes, bytes.count, 0)
      if read < 0, errno == EINTR { continue }
      guard read > 0 else { break }
      heard += bytes[..<read]
    }
    return heard
  }

  /// Ends pending and future calls of ``hear(_:)`` without bytes.
  func stopHearing() { _ = shutdown(self.descriptor, Int32(SHUT_RD)) }

  /// Closes the descriptor in programs that this process starts.
  func keep() { _ = fcntl(self.descriptor, F_SETFD, FD_CLOEXEC) }

  /// Closes the descriptor.
  func end() { _ = close(self.descriptor) }

  #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    private static let quietly = Int32(MSG_NOSIGNAL)
  #elseif canImport(Musl)
    private static let stream = SOCK_STREAM | SOCK_CLOEXEC
    private static let quietly = MSG_NOSIGNAL
  #else
    private static let stream = SOCK_STREAM
    private static let quietly = Int32(0)
  #endif
}
