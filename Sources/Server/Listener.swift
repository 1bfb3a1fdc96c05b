import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import ServiceLifecycle
import SidelightWire

/// One address of a server: a gRPC server of its own, with windows and limits set for video.
struct Listener: Sendable {
  private let address: Address
  private let server: GRPCServer<HTTP2ServerTransport.Posix>

  init(
    address: Address, configuration: TransportConfiguration,
    services: [any RegistrableRPCService], interceptors: [any ServerInterceptor] = []
  ) {
    self.address = address
    self.server = GRPCServer(
      transport: HTTP2ServerTransport.Posix(
        address: Self.socketAddress(address), transportSecurity: .plaintext,
        config: Self.transportConfig(configuration)),
      services: services, interceptors: interceptors)
  }

  /// Serves until the task is cancelled or graceful shutdown begins.
  func serve() async throws {
    try await withGracefulShutdownHandler {
      try await self.server.serve()
    } onGracefulShutdown: {
      self.server.beginGracefulShutdown()
    }
  }

  /// The address, with the port that the system chose.
  var boundAddress: Address {
    get async throws {
      let bound = try await self.server.transport.listeningAddress
      if let ipv4 = bound.ipv4 { return .tcp(host: ipv4.host, port: ipv4.port) }
      if let ipv6 = bound.ipv6 { return .tcp(host: ipv6.host, port: ipv6.port) }
      return self.address
    }
  }

  private static func socketAddress(
    _ address: Address
  ) -> GRPCNIOTransportHTTP2Posix.SocketAddress {
    switch address {
    case .unix(let path): .unixDomainSocket(path: path)
    case .tcp("localhost", let port): .ipv4(host: "127.0.0.1", port: port)
    case .tcp(let host, let port):
      host.contains(":") ? .ipv6(host: host, port: port) : .ipv4(host: host, port: port)
    }
  }

  private static func transportConfig(
    _ configuration: TransportConfiguration
  ) -> HTTP2ServerTransport.Posix.Config {
    .defaults { config in
      config.http2.targetWindowSize = configuration.streamWindowBytes
      config.http2.maxFrameSize = configuration.http2FrameBytes
      config.http2.maxConcurrentStreams = configuration.maxConcurrentStreams
      config.rpc.maxRequestPayloadSize = configuration.maxMessageBytes
      config.channelDebuggingCallbacks.onAcceptTCPConnection = { channel in
        // Frames are large: read much at a time.
        channel.setOption(
          .recvAllocator,
          value: FixedSizeRecvByteBufferAllocator(capacity: configuration.receiveBufferBytes))
      }
      config.channelDebuggingCallbacks.onAcceptHTTP2Stream = { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            MessageSizeGuard(limit: configuration.maxMessageBytes), position: .first)
        }
      }
    }
  }
}
