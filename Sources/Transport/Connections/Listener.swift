import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import NIOPosix
import ServiceLifecycle
import SidelightWire

/// One address of a server: a gRPC server of its own, with windows and limits set for video.
final class Listener: Sendable {
  private let address: Address
  /// A socket that listens there already; `nil`: it is bound here.
  private let descriptor: Int32?
  private let configuration: ServerConfiguration
  private let guards: Guards
  /// For TCP addresses; `nil`: they are not secured.
  private let certificates: CertificateStore?
  private let services: [any RegistrableRPCService]
  private let interceptors: [any ServerInterceptor]
  private let connections = ConnectionTable()
  private let bound = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Address.self)

  init(
    address: Address, descriptor: Int32? = nil, configuration: ServerConfiguration, guards: Guards,
    certificates: CertificateStore? = nil,
    services: [any RegistrableRPCService], interceptors: [any ServerInterceptor] = []
  ) {
    self.address = address
    self.descriptor = descriptor
    self.configuration = configuration
    self.guards = guards
    self.certificates = certificates
    self.services = services
    self.interceptors = interceptors
  }

  deinit {
    self.bound.fail(CancellationError())
  }

  /// The server does not come to listening: whoever waits for the address learns why.
  func giveUp(_ error: any Error) {
    self.bound.fail(error)
  }

  /// Serves until the task is cancelled or graceful shutdown begins.
  ///
  /// - Throws: ``ListeningError`` if the address cannot be bound.
  func serve(on loops: MultiThreadedEventLoopGroup) async throws {
    do {
      switch self.address {
      case .tcp(let host, let port):
        if let certificates {
          let transport = HTTP2ServerTransport.Custom(
            listenerFactory: SecureListener(
              address: try NIOCore.SocketAddress(
                ipAddress: host == "localhost" ? "127.0.0.1" : host, port: port),
              descriptor: self.descriptor, certificates: certificates, loops: loops),
            config: .init(self.transportConfig))
          try await self.serve(transport) { await transport.listeningAddress }
        } else if let descriptor {
          try await self.serve(onSocket: descriptor, loops)
        } else {
          let transport = HTTP2ServerTransport.Posix(
            address: Self.socketAddress(host, port), transportSecurity: .plaintext,
            config: self.transportConfig, eventLoopGroup: loops)
          try await self.serve(transport) { try? await transport.listeningAddress }
        }
      case .unix(let path):
        if let descriptor {
          // Its file belongs to whoever bound it.
          try await self.serve(onSocket: descriptor, loops)
          break
        }
        let file = try await UnixSocketFile(
          listeningAt: path, permissions: self.configuration.unixSocketPermissions)
        defer { file.remove() }
        try await self.serve(onSocket: file.descriptor, loops)
      }
      self.bound.fail(CancellationError())
    } catch {
      let error = ListeningError(error, self.address) ?? error
      self.bound.fail(error)
      throw error
    }
  }

  /// The address, with the port that the system chose. Waits until it is bound.
  var boundAddress: Address {
    get async throws { try await self.bound.futureResult.get() }
  }

  /// Takes the descriptor over.
  private func serve(
    onSocket descriptor: Int32, _ loops: MultiThreadedEventLoopGroup
  ) async throws {
    let transport = HTTP2ServerTransport.Posix(
      listeningSocketDescriptor: Int(descriptor), transportSecurity: .plaintext,
      config: self.transportConfig, eventLoopGroup: loops)
    try await self.serve(transport) { try? await transport.listeningAddress }
  }

  /// - Parameter listeningAddress: Where the transport listens; `nil` if it does not.
  private func serve(
    _ transport: some ServerTransport,
    listeningAddress:
      @escaping @Sendable () async
      -> GRPCNIOTransportHTTP2Posix.SocketAddress?
  ) async throws {
    let server = GRPCServer(
      transport: transport, services: self.services,
      interceptors: [
        ConnectionInterceptor(
          connections: self.connections, executor: self.configuration.transport.executor),
        UnreadableMessages(),
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
        // Where there is none, `serve` says why.
        guard let bound = await listeningAddress() else { return }
        if let ipv4 = bound.ipv4 {
          self.bound.succeed(.tcp(host: ipv4.host, port: ipv4.port))
        } else if let ipv6 = bound.ipv6 {
          self.bound.succeed(.tcp(host: ipv6.host, port: ipv6.port))
        } else {
          self.bound.succeed(self.address)
        }
      }
      while try await group.next() != nil {}
    }
  }

  /// Serves. If the task is cancelled, all connections are closed before the server hears of it.
  ///
  /// A cancelled transport drops connections that it has accepted and not looked at yet, and NIO ends the
  /// process where one that is open is dropped (`docs/design/upstream.md`, 12). So what serves is no child of this
  /// task, which would be cancelled with it, but ends before it all the same (`docs/decisions`, 28).
  private func serve(_ server: GRPCServer<some ServerTransport>) async throws {
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

  private var transportConfig: HTTP2ServerTransport.Posix.Config {
    let transport = self.configuration.transport
    return .defaults { config in
      config.http2.targetWindowSize = transport.streamWindowBytes
      config.http2.maxFrameSize = transport.http2FrameBytes
      config.http2.maxConcurrentStreams = transport.maxConcurrentStreams
      config.rpc.maxRequestPayloadSize = transport.maxMessageBytes
      config.connection.flushCoalescing = transport.flushCoalescing.map {
        .init(maxFlushDelay: $0.delay, maxBytes: $0.bytes)
      }
      config.channelDebuggingCallbacks.onAcceptTCPConnection = { channel in
        SocketOptions(transport).apply(to: channel).flatMap { self.connections.enter(channel) }
          .flatMapThrowing { connection in
            let peer = Caller(peer: channel.peerName, credentials: connection.credentials)
            try self.guards.protect(connection: channel, of: peer.description)
          }
      }
      config.channelDebuggingCallbacks.onAcceptHTTP2Stream = { channel in
        channel.eventLoop.makeCompletedFuture {
          // Above the guards, which see what is really written and read.
          try self.connections.claims.serve(
            call: channel, maxMessageBytes: transport.maxMessageBytes)
          try self.guards.protect(call: channel)
        }
        .flatMap { self.connections.mark(channel) }
      }
    }
  }
}

extension HTTP2ServerTransport.Custom.Config {
  /// The same settings for a listener of our own.
  fileprivate init(_ posix: HTTP2ServerTransport.Posix.Config) {
    self.init(
      compression: posix.compression, connection: posix.connection, http2: posix.http2,
      rpc: posix.rpc, channelDebuggingCallbacks: posix.channelDebuggingCallbacks)
  }
}
