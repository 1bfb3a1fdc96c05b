#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The control socket between a supervisor and one worker. The supervisor sends a secret, the
/// worker reports that it is ready, and both detect the other's end, regardless of the cause.
struct ControlSocket: Sendable {
  /// The length of the secret in bytes.
  static let secretBytes = 32

  /// The descriptor of this end.
  let descriptor: Int32

  /// Creates a connected pair of sockets.
  ///
  /// - Throws: ``SystemCallError``.
  static func pair() throws(SystemCallError) -> (supervisor: ControlSocket, worker: ControlSocket) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Self.stream, 0, &ends) == 0 else {
      throw SystemCallError(call: "socketpair", code: errno)
    }
    return (ControlSocket(descriptor: ends[0]), ControlSocket(descriptor: ends[1]))
  }

  /// Sends bytes. They always fit into the socket's buffer. Failures are ignored: the end of the
  /// peer is detected elsewhere.
  func sendBytes(_ bytes: [UInt8]) { _ = send(self.descriptor, bytes, bytes.count, Self.noSignal) }

  /// Receives bytes, and blocks until they arrive.
  ///
  /// - Returns: The requested number of bytes; fewer if the peer has closed its end.
  func receiveBytes(_ count: Int) -> [UInt8] {
    var received: [UInt8] = []
    while received.count < count {
      var bytes = [UInt8](repeating: 0, count: count - received.count)
      let read = recv(self.descriptor, &bytes, bytes.count, 0)
      if read < 0, errno == EINTR { continue }
      guard read > 0 else { break }
      received += bytes[..<read]
    }
    return received
  }

  /// Ends pending and future calls of ``receiveBytes(_:)`` without bytes.
  func stopReceiving() { _ = shutdown(self.descriptor, Int32(SHUT_RD)) }

  /// Closes the descriptor in programs that this process starts.
  func setCloseOnExec() { _ = fcntl(self.descriptor, F_SETFD, FD_CLOEXEC) }

  /// Closes the descriptor.
  func closeDescriptor() { _ = close(self.descriptor) }

  #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    private static let noSignal = Int32(MSG_NOSIGNAL)
  #elseif canImport(Musl)
    private static let stream = SOCK_STREAM | SOCK_CLOEXEC
    private static let noSignal = MSG_NOSIGNAL
  #else
    private static let stream = SOCK_STREAM
    private static let noSignal = Int32(0)
  #endif
}

/// A failed system call.
package struct SystemCallError: Error, Hashable, CustomStringConvertible {
  let call: String
  /// The `errno`.
  let code: Int32

  package var description: String { "\(self.call): \(String(cString: strerror(self.code)))" }
}
