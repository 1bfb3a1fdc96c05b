import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Who is at the other end of a Unix socket, as the kernel saw it when the socket was connected
/// (`SO_PEERCRED`, unix(7)). Ids are those of this process's namespaces; what has none there shows as
/// the overflow id (65534), or as process 0.
package struct PeerCredentials: Sendable, Hashable {
  // In the order of the kernel's `struct ucred`.

  /// The process.
  let pid: Int32
  /// Its effective user.
  let uid: UInt32
  /// Its effective group.
  let gid: UInt32

  /// Asks the kernel about an accepted connection.
  ///
  /// - Returns: `nil` for what is no Unix socket, and where the system has no such answer.
  static func ofPeer(_ channel: any Channel) -> EventLoopFuture<PeerCredentials?> {
    #if os(Linux)
      guard case .unixDomainSocket? = channel.localAddress,
        let provider = channel as? any SocketOptionProvider
      else { return channel.eventLoop.makeSucceededFuture(nil) }
      let credentials: EventLoopFuture<PeerCredentials> = provider.unsafeGetSocketOption(
        level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
      return credentials.map { $0 }
    #else
      return channel.eventLoop.makeSucceededFuture(nil)
    #endif
  }
}
