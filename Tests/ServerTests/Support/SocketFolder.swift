import Foundation

/// A folder for the Unix sockets of one test.
struct SocketFolder: Sendable {
  let path: String

  init() throws {
    self.path = FileManager.default.temporaryDirectory
      .appending(path: "sidelight-\(UUID().uuidString.prefix(8))").path()
    try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
  }

  /// A path within it.
  func file(_ name: String = "socket") -> String { "\(self.path)/\(name)" }

  func remove() {
    try? FileManager.default.removeItem(atPath: self.path)
  }

  /// Creates a socket file without a listener, as a process that was killed leaves one.
  func leaveStaleSocket(_ name: String = "socket") throws {
    close(try self.bindSocket(name, kind: Self.streamSocket))
  }

  /// Binds a socket, and returns its descriptor.
  func bindSocket(_ name: String = "socket", kind: Int32) throws -> Int32 {
    let descriptor = socket(AF_UNIX, kind, 0)
    let status = withUnixAddress(self.file(name)) { bind(descriptor, $0, $1) }
    guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    return descriptor
  }

  #if canImport(Glibc)
    static let streamSocket = Int32(SOCK_STREAM.rawValue)
    static let datagramSocket = Int32(SOCK_DGRAM.rawValue)
  #else
    static let streamSocket = SOCK_STREAM
    static let datagramSocket = SOCK_DGRAM
  #endif
}

/// Lends the address of a Unix socket to a system call.
func withUnixAddress(
  _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
) -> Int32 {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
  return withUnsafePointer(to: address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
}
