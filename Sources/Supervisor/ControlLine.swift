#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The line between a supervisor and one worker: a pair of sockets that are connected, an end each. The
/// supervisor says the secret, the worker that it serves; and either learns of the other's end, however it
/// comes.
struct ControlLine: Sendable {
  /// Bytes of the secret.
  static let secretBytes = 32

  /// This side's end.
  let descriptor: Int32

  /// Two ends.
  ///
  /// - Throws: ``SystemFailure``.
  static func pair() throws(SystemFailure) -> (supervisor: ControlLine, worker: ControlLine) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Self.stream, 0, &ends) == 0 else {
      throw SystemFailure(call: "socketpair", code: errno)
    }
    return (ControlLine(descriptor: ends[0]), ControlLine(descriptor: ends[1]))
  }

  /// Says bytes; there is room for those that are said here. If nobody hears them any more, that is learnt
  /// elsewhere.
  func say(_ bytes: [UInt8]) { _ = send(self.descriptor, bytes, bytes.count, Self.quietly) }

  /// Waits for bytes.
  ///
  /// - Returns: As many as were asked for; fewer, if the other end is gone.
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

  /// Nobody here waits for bytes any more: who does gets none.
  func stopHearing() { _ = shutdown(self.descriptor, Int32(SHUT_RD)) }

  /// Keeps the end from programs that this one starts.
  func keep() { _ = fcntl(self.descriptor, F_SETFD, FD_CLOEXEC) }

  /// Lets go of the end.
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
