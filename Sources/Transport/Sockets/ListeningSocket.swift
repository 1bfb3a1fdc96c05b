import NIOCore
public import SidelightWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A socket that listens, and that no server has taken yet: for whoever holds the sockets and leaves it
/// to other processes to serve on them.
///
/// Such a process names the socket in ``ServerConfiguration/listeningDescriptors``. All of them may do so
/// at once: each connection is one of theirs.
public struct ListeningSocket: Sendable {
  /// Where, with the port that the system chose.
  public let address: Address
  /// The socket. Programs that this one starts do not get it unless they are given it.
  public let descriptor: Int32
  private let file: UnixSocketFile?

  /// Binds and listens.
  ///
  /// - Parameters:
  ///   - address: Where; a host is an IP address or `localhost`.
  ///   - unixSocketPermissions: Who may connect to a Unix socket.
  /// - Throws: ``ListeningError``, or `CancellationError`.
  public init(at address: Address, unixSocketPermissions: UInt16 = 0o600) async throws {
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

  /// Closes the socket here; where other processes have it, it goes on to listen.
  public func close() { Self.close(self.descriptor) }

  /// Removes a Unix socket's file, unless another has taken its place.
  public func removeFile() { self.file?.remove() }

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
          ? Self.socketAddress(UnsafePointer(pointer)) : nil
      }
    }
    guard let host = name?.ipAddress, let port = name?.port else { return nil }
    return .tcp(host: host, port: port)
  }

  private static func socketAddress(_ pointer: UnsafePointer<sockaddr>) -> SocketAddress? {
    switch Int32(pointer.pointee.sa_family) {
    case AF_INET:
      pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee) }
    case AF_INET6:
      pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee) }
    default: nil
    }
  }

  // MARK: System calls

  /// Connections that may wait to be accepted, also while a process that accepts them starts anew.
  private static let backlog: Int32 = 1024

  // `listen` and `close` are methods here.
  #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    private static func startListening(_ descriptor: Int32) -> Int32 {
      Glibc.listen(descriptor, Self.backlog)
    }
    private static func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }
  #elseif canImport(Musl)
    private static let stream = SOCK_STREAM | SOCK_CLOEXEC
    private static func startListening(_ descriptor: Int32) -> Int32 {
      Musl.listen(descriptor, Self.backlog)
    }
    private static func close(_ descriptor: Int32) { _ = Musl.close(descriptor) }
  #else
    private static let stream = SOCK_STREAM
    private static func startListening(_ descriptor: Int32) -> Int32 {
      Darwin.listen(descriptor, Self.backlog)
    }
    private static func close(_ descriptor: Int32) { _ = Darwin.close(descriptor) }
  #endif
}

extension SocketAddress {
  fileprivate var v6: Bool {
    if case .v6 = self { true } else { false }
  }
}
