import Foundation
import NIOCore
package import SidelightWire

/// A socket that is bound to an address and listens.
package struct BoundSocket: Sendable {
  /// The address, with the port that the system has chosen.
  package let address: Address
  /// The socket. Programs that this process starts do not inherit it.
  package let descriptor: Int32
  private let file: UnixSocketFile?

  /// Binds and listens.
  ///
  /// - Parameters:
  ///   - address: The address; a host is an IP address or `localhost`.
  ///   - unixSocketPermissions: The mode of a Unix socket's file.
  /// - Throws: ``ListeningError``, or `CancellationError`.
  package init(at address: Address, unixSocketPermissions: UInt16) async throws {
    switch address {
    case .unix(let path):
      let file = try await UnixSocketFile(listeningAt: path, permissions: unixSocketPermissions)
      self.address = address
      self.descriptor = file.descriptor
      self.file = file
    case .tcp(let host, let port):
      self.descriptor = try Self.listen(host, port)
      self.address = Self.name(of: self.descriptor) ?? address
      self.file = nil
    }
  }

  /// Closes the socket in this process. In other processes it continues to listen.
  package func close() { Self.close(self.descriptor) }

  /// Removes a Unix socket's file, unless another socket has replaced it.
  package func removeFile() { self.file?.remove() }

  // MARK: TCP

  private static func listen(_ host: String, _ port: Int) throws(ListeningError) -> Int32 {
    let address = Address.tcp(host: host, port: port)
    guard
      let name = try? SocketAddress(ipAddress: host == "localhost" ? "127.0.0.1" : host, port: port)
    else {
      throw ListeningError(.notFound, address, "the host is no IP address")
    }
    let descriptor = socket(name.v6 ? AF_INET6 : AF_INET, Self.stream, 0)
    guard descriptor >= 0 else { throw ListeningError(errno: errno, call: "socket", address) }
    var reuses: Int32 = 1
    setsockopt(
      descriptor, SOL_SOCKET, SO_REUSEADDR, &reuses, socklen_t(MemoryLayout.size(ofValue: reuses)))
    let call: String? = name.withSockAddr { pointer, size in
      if bind(descriptor, pointer, socklen_t(size)) != 0 { return "bind" }
      return Self.startListening(descriptor) == 0 ? nil : "listen"
    }
    if let call {
      let error = ListeningError(errno: errno, call: call, address)
      Self.close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func name(of descriptor: Int32) -> Address? {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout.size(ofValue: storage))
    let name = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        getsockname(descriptor, pointer, &size) == 0
          ? Self.socketAddress(UnsafePointer(pointer), size) : nil
      }
    }
    guard let host = name?.ipAddress, let port = name?.port else { return nil }
    return .tcp(host: host, port: port)
  }

  private static func socketAddress(
    _ pointer: UnsafePointer<sockaddr>, _ size: socklen_t
  ) -> SocketAddress? {
    // The size tells the family. C's field for it belongs to whichever module the compiler has read
    // first.
    switch Int(size) {
    case MemoryLayout<sockaddr_in>.size:
      pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee) }
    case MemoryLayout<sockaddr_in6>.size:
      pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee) }
    default: nil
    }
  }

  // MARK: System calls

  /// The connections that may wait to be accepted, also while the accepting process restarts.
  static let backlog: Int32 = 1024

  // `listen` and `close` are methods of this type. A socket that listens already gets the backlog.
  static func startListening(_ descriptor: Int32) -> Int32 {
    Foundation.listen(descriptor, Self.backlog)
  }

  private static func close(_ descriptor: Int32) { _ = Foundation.close(descriptor) }

  #if canImport(Glibc)
    static let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
  #elseif canImport(Musl)
    static let stream = SOCK_STREAM | SOCK_CLOEXEC
  #else
    static let stream = SOCK_STREAM
  #endif
}

extension SocketAddress {
  fileprivate var v6: Bool {
    if case .v6 = self { true } else { false }
  }
}

extension ListeningError {
  /// Converts the error of a system call.
  init(errno: Int32, call: String, _ address: Address) {
    let code: Code =
      switch errno {
      case EADDRINUSE: .inUse
      case EACCES, EPERM, EROFS: .noPermission
      case ENOENT, ENOTDIR, EADDRNOTAVAIL: .notFound
      case ENAMETOOLONG: .pathTooLong
      default: .other
      }
    let text = String(cString: strerror(errno))
    switch code {
    case .inUse: self.init(code, address, "another server listens there")
    default: self.init(code, address, "\(text) (\(call))")
    }
  }
}
