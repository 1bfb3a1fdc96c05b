import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import NIOPosix
import SidelightWire

/// Opens connections, with windows and limits set for video.
struct Dialer: Sendable {
  typealias Connection = GRPCClient<HTTP2ClientTransport.Posix>

  let transport: TransportConfiguration
  let security: ClientSecurity
  /// What carries the connections.
  let loops: MultiThreadedEventLoopGroup
  /// For the large messages of all calls.
  let claims: ClaimDesk
  /// Connections that sessions share; none: each has its own.
  let shared: SharedConnections?

  /// Runs `body` with a dialer; its threads and shared connections end when `body` returns.
  ///
  /// - Throws: `ConfigurationFault`.
  static func withDialer<Result: Sendable>(
    _ transport: TransportConfiguration, _ security: ClientSecurity,
    _ body: (Dialer) async throws -> Result
  ) async throws -> Result {
    try transport.validate()
    return try await withEventLoops(transport.eventLoops) { loops in
      let own = Dialer(
        transport: transport, security: security, loops: loops, claims: ClaimDesk(), shared: nil)
      guard let limit = transport.connections else { return try await body(own) }
      let shared = SharedConnections(
        limit: limit, nextLoop: { loops.next() },
        open: { address, loop in
          GRPCClient(
            transport: try own.channel(to: address, on: loop), interceptors: security.interceptors)
        })
      return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await shared.run() }
        defer { shared.finish() }
        return try await body(
          Dialer(
            transport: transport, security: security, loops: loops, claims: own.claims,
            shared: shared))
      }
    }
  }

  /// Connects, and closes the connection when `body` returns or the task is cancelled; or takes a share
  /// in one that stands. Connecting itself is lazy.
  ///
  /// - Parameter loop: What carries the connection, unless it is shared.
  func withConnection<Result: Sendable>(
    to address: Address, on loop: (any EventLoop)? = nil,
    _ body: @Sendable (Connection) async throws -> Result
  ) async throws -> Result {
    guard let shared else {
      let loop = loop ?? self.loops.next()
      return try await self.onLoop(loop) {
        try await withGRPCClient(
          transport: try self.channel(to: address, on: loop),
          interceptors: self.security.interceptors
        ) { client in
          try await body(client)
        }
      }
    }
    return try await shared.withConnection(to: address) { connection in
      try await self.onLoop(connection.loop) { try await body(connection.client) }
    }
  }

  /// Makes what speaks to an address.
  ///
  /// - Throws: `ConfigurationFault`.
  func channel(
    to address: Address, on loop: any EventLoop
  ) throws -> HTTP2ClientTransport.Posix {
    let transport = self.transport
    let socket = SocketOptions(transport)
    let security = self.security
    let transportSecurity = try security.transport(to: address)
    do {
      return try HTTP2ClientTransport.Posix(
        target: Self.target(address), transportSecurity: transportSecurity,
        config: .defaults { config in
          config.http2.authority = security.serverName(at: address)
          config.http2.targetWindowSize = transport.streamWindowBytes
          config.http2.maxFrameSize = transport.http2FrameBytes
          config.connection.flushCoalescing = transport.flushCoalescing.map {
            .init(maxFlushDelay: $0.delay, maxBytes: $0.bytes)
          }
          config.channelDebuggingCallbacks.onCreateTCPConnection = { channel in
            socket.apply(to: channel).flatMapThrowing {
              try security.protect(channel, at: address)
              try LateFrameGuard.protect(channel)
            }
          }
          config.channelDebuggingCallbacks.onCreateHTTP2Stream = { [claims] channel in
            channel.eventLoop.makeCompletedFuture {
              try claims.serve(call: channel, maxMessageBytes: transport.maxMessageBytes)
            }
          }
        },
        eventLoopGroup: loop)
    } catch let error as RuntimeError {
      // Whatever else can be wrong here was looked at before.
      throw ConfigurationFault(
        setting: "security.tls", value: "\(error.cause.map { "\($0)" } ?? error.message)",
        range: "certificates and a key that belong together, as PEM")
    }
  }

  /// Options of every call.
  var callOptions: CallOptions {
    var options = CallOptions.defaults
    options.maxRequestMessageBytes = self.transport.maxMessageBytes
    options.maxResponseMessageBytes = self.transport.maxMessageBytes
    return options
  }

  /// Runs what the configuration wants to run where the connection lives.
  private func onLoop<Result: Sendable>(
    _ loop: any EventLoop, _ body: () async throws -> Result
  ) async throws -> Result {
    switch self.transport.executor {
    case .concurrent: try await body()
    case .eventLoops:
      try await withTaskExecutorPreference(EventLoopExecutor(loop)) { try await body() }
    }
  }

  private static func target(_ address: Address) -> any ResolvableTarget {
    switch address {
    case .unix(let path): .unixDomainSocket(path: path)
    case .tcp("localhost", let port): .ipv4(address: "127.0.0.1", port: port)
    case .tcp(let host, let port) where host.contains(":"): .ipv6(address: host, port: port)
    case .tcp(let host, let port) where host.allSatisfy { $0.isNumber || $0 == "." }:
      .ipv4(address: host, port: port)
    case .tcp(let host, let port): .dns(host: host, port: port)
    }
  }
}
