import SidelightTransport
public import SidelightWire

/// A listening socket that isn't owned by a server yet, for a process that holds the sockets and
/// lets other processes serve on them.
///
/// Such a process names the socket in ``ServerConfiguration/listeningDescriptors``. Several
/// processes may serve on one socket; a connection belongs to one of them.
public struct ListeningSocket: Sendable {
  private let socket: BoundSocket

  /// The address, with the port that the system has chosen.
  public var address: Address { self.socket.address }

  /// The file descriptor of the socket. It is closed in programs that this process starts, unless
  /// they receive it explicitly.
  public var descriptor: Int32 { self.socket.descriptor }

  /// Binds and listens.
  ///
  /// - Parameters:
  ///   - address: The address; a host is an IP address or `localhost`.
  ///   - unixSocketPermissions: The mode of a Unix socket's file; by default its owner may connect.
  /// - Throws: `ListeningError` if the address cannot be bound; `CancellationError`.
  public init(at address: Address, unixSocketPermissions: UInt16 = 0o600) async throws {
    self.socket = try await BoundSocket(
      at: address, unixSocketPermissions: unixSocketPermissions)
  }

  /// Closes the socket in this process. In other processes it continues to listen.
  public func close() { self.socket.close() }

  /// Removes a Unix socket's file, unless another socket has replaced it.
  public func removeFile() { self.socket.removeFile() }
}
