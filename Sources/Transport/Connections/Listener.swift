package import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import NIOPosix
import ServiceLifecycle
package import SidelightWire

/// One address of a server: a separate gRPC server, with windows and limits set for video.
package final class Listener: Sendable {
  /// The socket of a listener.
  package struct Socket: Sendable {
    /// The address that the listener binds, or that its descriptor is bound to.
    package var address: Address
    /// A socket that listens already; `nil` binds the address.
    package var descriptor: Int32?
    /// The mode of a Unix socket's file.
    package var unixSocketPermissions: UInt16

    package init(address: Address, descriptor: Int32? = nil, unixSocketPermissions: UInt16) {
      self.address = address
      self.descriptor = descriptor
      self.unixSocketPermissions = unixSocketPermissions
    }
  }

  private let socket: Socket
  private let transport: TransportConfiguration
  private let guards: Guards
  /// The certificates of TCP addresses; `nil` disables TLS.
  private let certificates: CertificateStore?
  private let services: [any RegistrableRPCService]
  private let interceptors: [any ServerInterceptor]
  private let connections = ConnectionTable()
  private let bound = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Address.self)

  /// - Parameters:
  ///   - socket: The address.
  ///   - transport: The settings of connections.
  ///   - certificates: The certificates of TCP addresses; `nil` disables TLS.
  ///   - interceptors: The interceptors of the server. The transport's interceptors run before
  ///     them.
  package init(
    _ socket: Socket, transport: TransportConfiguration, guards: Guards,
    certificates: CertificateStore? = nil,
    services: [any RegistrableRPCService], interceptors: [any ServerInterceptor] = []
  ) {
    self.socket = socket
    self.transport = transport
    self.guards = guards
    self.certificates = certificates
    self.services = services
    self.interceptors = interceptors
  }

  deinit {
    self.bound.fail(CancellationError())
  }

  /// Reports that the server will not listen to everything that waits for ``boundAddress``.
  package func fail(_ error: any Error) {
    self.bound.fail(error)
  }

  /// Serves until the task is cancelled or graceful shutdown begins.
  ///
  /// - Throws: ``ListeningError`` if the address cannot be bound.
  package func serve(on loops: EventLoops) async throws {
    let address = self.socket.address
    do {
      switch address {
      case .tcp(let host, let port):
        if let certificates {
          let transport = HTTP2ServerTransport.Custom(
            listenerFactory: TLSListenerFactory(
              address: try NIOCore.SocketAddress(
                ipAddress: host == "localhost" ? "127.0.0.1" : host, port: port),
              descriptor: self.socket.descriptor, certificates: certificates, loops: loops.group),
            config: .init(self.transportConfig(onSocket: self.socket.descriptor)))
          try await self.serve(transport) { await transport.listeningAddress }
        } else if let descriptor = self.socket.descriptor {
          try await self.serve(onSocket: descriptor, loops)
        } else {
          let transport = HTTP2ServerTransport.Posix(
            address: Self.socketAddress(host, port), transportSecurity: .plaintext,
            config: self.transportConfig(), eventLoopGroup: loops.group)
          try await self.serve(transport) { try? await transport.listeningAddress }
        }
      case .unix(let path):
        if let descriptor = self.socket.descriptor {
          // The file belongs to the process that has bound it.
          try await self.serve(onSocket: descriptor, loops)
          break
        }
        let file = try await UnixSocketFile(
          listeningAt: path, permissions: self.socket.unixSocketPermissions)
        defer { file.remove() }
        try await self.serve(onSocket: file.descriptor, loops)
      }
      self.bound.fail(CancellationError())
    } catch {
      let error = ListeningError(error, address) ?? error
      self.bound.fail(error)
      throw error
    }
  }

  /// The address, with the port that the system has chosen. Waits until it is bound.
  package var boundAddress: Address {
    get async throws { try await self.bound.futureResult.get() }
  }

  /// Serves on a socket, which it closes.
  private func serve(
    onSocket descriptor: Int32, _ loops: EventLoops
  ) async throws {
    let transport = HTTP2ServerTransport.Posix(
      listeningSocketDescriptor: Int(descriptor), transportSecurity: .plaintext,
      config: self.transportConfig(onSocket: descriptor), eventLoopGroup: loops.group)
    try await self.serve(transport) { try? await transport.listeningAddress }
  }

  /// - Parameter listeningAddress: Returns the address of the transport; `nil` if it does not
  ///   listen.
  private func serve(
    _ transport: some ServerTransport,
    listeningAddress:
      @escaping @Sendable () async
      -> GRPCNIOTransportHTTP2Posix.SocketAddress?
  ) async throws {
    let server = GRPCServer(
      transport: transport, services: self.services,
      interceptors: [
        CallOriginInterceptor(
          origin: { [connections] in connections.origin(ofCall: $0) },
          executor: self.transport.executor)
      ] + self.interceptors)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await withGracefulShutdownHandler {
          try await self.serve(server)
        } onGracefulShutdown: {
          server.beginGracefulShutdown()
        }
      }
      group.addTask {
        // If it is `nil`, `serve` throws the reason.
        guard let bound = await listeningAddress() else { return }
        if let ipv4 = bound.ipv4 {
          self.bound.succeed(.tcp(host: ipv4.host, port: ipv4.port))
        } else if let ipv6 = bound.ipv6 {
          self.bound.succeed(.tcp(host: ipv6.host, port: ipv6.port))
        } else {
          self.bound.succeed(self.socket.address)
        }
      }
      while try await group.next() != nil {}
    }
  }

  /// Serves. If the task is cancelled, all connections are closed before the gRPC server is
  /// cancelled.
  ///
  /// A cancelled transport drops connections that it has accepted and not handled, and NIO ends the
  /// process when an open one is dropped (`docs/design/upstream.md`, 12).
  private func serve(_ server: GRPCServer<some ServerTransport>) async throws {
    // Not a child task, which would be cancelled together with this one and before the connections
    // are closed. `onCancel` cancels it, and this function returns only after it.
    let serving = Task { try await server.serve() }
    try await withTaskCancellationHandler {
      try await serving.value
    } onCancel: {
      self.connections.closeAll { serving.cancel() }
    }
  }

  private static func socketAddress(
    _ host: String, _ port: Int
  ) -> GRPCNIOTransportHTTP2Posix.SocketAddress {
    if host == "localhost" { return .ipv4(host: "127.0.0.1", port: port) }
    return host.contains(":") ? .ipv6(host: host, port: port) : .ipv4(host: host, port: port)
  }

  // MARK: Connections and streams

  /// The settings of the gRPC server's transport.
  ///
  /// - Parameter descriptor: The socket of the listener; `nil` if the transport binds one.
  private func transportConfig(
    onSocket descriptor: Int32? = nil
  ) -> HTTP2ServerTransport.Posix.Config {
    let transport = self.transport
    return .defaults { config in
      config.http2.targetWindowSize = transport.streamWindowBytes
      config.http2.maxFrameSize = transport.http2FrameBytes
      config.http2.maxConcurrentStreams = transport.maxConcurrentStreams
      config.rpc.maxRequestPayloadSize = transport.maxMessageBytes
      config.connection.flushCoalescing = transport.flushCoalescing.map {
        .init(maxFlushDelay: $0.delay, maxBytes: $0.bytes)
      }
      // NIO lets 128 connections wait: its option applies to a socket that it binds after this, but
      // a socket that it was given listens already.
      config.channelDebuggingCallbacks.onBindTCPListener = { channel in
        if let descriptor { _ = BoundSocket.startListening(descriptor) }
        return channel.setOption(.backlog, value: BoundSocket.backlog)
      }
      config.channelDebuggingCallbacks.onAcceptTCPConnection = { channel in
        SocketOptions(transport).apply(to: channel).flatMap { self.connections.add(channel) }
          .flatMapThrowing { connection in
            let credentials = connection.credentials.map { " \($0)" } ?? ""
            try self.guards.protect(connection: channel, of: channel.peerName + credentials)
          }
      }
      config.channelDebuggingCallbacks.onAcceptHTTP2Stream = { channel in
        let cancellation = CallCancellation()
        return channel.eventLoop.makeCompletedFuture {
          try self.guards.protect(
            call: channel, messages: self.connections.messages, cancellation: cancellation)
        }
        .flatMap { self.connections.add(call: channel, cancellation: cancellation) }
      }
    }
  }
}

extension HTTP2ServerTransport.Custom.Config {
  /// Creates the same settings for a custom listener.
  fileprivate init(_ posix: HTTP2ServerTransport.Posix.Config) {
    self.init(
      compression: posix.compression, connection: posix.connection, http2: posix.http2,
      rpc: posix.rpc, channelDebuggingCallbacks: posix.channelDebuggingCallbacks)
  }
}

extension ListeningError {
  /// Converts the error that serving ended with.
  ///
  /// - Returns: `nil` if it was not the failure of a system call.
  fileprivate init?(_ error: any Error, _ address: Address) {
    let cause = (error as? RuntimeError)?.cause ?? error
    let inner = (cause as? RuntimeError)?.cause ?? cause
    guard let error = inner as? IOError else { return nil }
    self.init(errno: error.errnoCode, call: "bind", address)
  }
}
