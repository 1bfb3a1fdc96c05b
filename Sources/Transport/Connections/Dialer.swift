package import GRPCCore
package import GRPCNIOTransportHTTP2Posix
import NIOCore
package import SidelightWire

/// The opener of a client's connections, with windows and limits set for video.
package struct Dialer: Sendable {
  /// The transport of the client's gRPC connections.
  package typealias ClientTransport = HTTP2ClientTransport.Posix
  /// A connection that calls can be made on.
  package typealias Connection = GRPCClient<ClientTransport>

  private let transport: TransportConfiguration
  private let tls: ClientTLS?
  private let interceptors: [any ClientInterceptor]
  private let loops: EventLoops
  /// The large messages of all calls.
  private let messages = OutboundMessageStore()
  /// The connections that sessions share; `nil` gives every session its own.
  private var shared: SharedConnections?

  /// Runs `body` with a dialer; its threads and shared connections end when `body` returns.
  ///
  /// - Parameters:
  ///   - transport: The settings of connections.
  ///   - tls: The TLS of TCP connections; `nil` disables it.
  ///   - interceptors: The interceptors of calls.
  ///   - isConnectionError: Whether the connection may be the cause of a call's error. The
  ///     connection is then not used for further calls.
  /// - Throws: `ConfigurationError`.
  package static func withDialer<Result: Sendable>(
    _ transport: TransportConfiguration, tls: ClientTLS?,
    interceptors: [any ClientInterceptor],
    isConnectionError: @escaping @Sendable (any Error) -> Bool,
    _ body: (Dialer) async throws -> Result
  ) async throws -> Result {
    try transport.validateWithSystem()
    return try await EventLoops.with(transport.eventLoops) { loops in
      var dialer = Dialer(transport: transport, tls: tls, interceptors: interceptors, loops: loops)
      guard let limit = transport.connections else { return try await body(dialer) }
      let shared = SharedConnections(
        limit: limit, nextLoop: { loops.next() },
        open: { [dialer] address, loop in
          GRPCClient(
            transport: try dialer.channel(to: address, on: loop), interceptors: interceptors)
        }, isConnectionError: isConnectionError)
      dialer.shared = shared
      return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await shared.run() }
        defer { shared.finish() }
        return try await body(dialer)
      }
    }
  }

  package func nextLoop() -> ConnectionLoop { self.loops.next() }

  /// Returns the store of one call's large messages.
  package func makeCallMessages() -> OutboundMessageStore.CallMessages {
    self.messages.makeCallMessages()
  }

  /// Runs `body` with a connection: a new one, which closes when `body` returns or the task is
  /// cancelled, or a shared one. The first call connects.
  ///
  /// - Parameter loop: The loop of the connection, unless it is shared; `nil` chooses the next.
  package func withConnection<Result: Sendable>(
    to address: Address, on loop: ConnectionLoop? = nil,
    _ body: @Sendable (Connection) async throws -> Result
  ) async throws -> Result {
    guard let shared else {
      let loop = loop ?? self.loops.next()
      return try await self.run(on: loop) {
        try await withGRPCClient(
          transport: try self.channel(to: address, on: loop), interceptors: self.interceptors
        ) { client in
          try await body(client)
        }
      }
    }
    return try await shared.withConnection(to: address) { connection in
      try await self.run(on: connection.loop) { try await body(connection.client) }
    }
  }

  /// Creates the transport of a connection.
  ///
  /// - Throws: `ConfigurationError`.
  private func channel(to address: Address, on loop: ConnectionLoop) throws -> ClientTransport {
    let transport = self.transport
    let socket = SocketOptions(transport)
    let security = ClientTransportSecurity(tls: self.tls, address: address)
    let transportSecurity = try security.transportSecurity()
    do {
      return try HTTP2ClientTransport.Posix(
        target: Self.target(address), transportSecurity: transportSecurity,
        config: .defaults { config in
          config.http2.authority = security.serverName
          config.http2.targetWindowSize = transport.streamWindowBytes
          config.http2.maxFrameSize = transport.http2FrameBytes
          config.connection.flushCoalescing = transport.flushCoalescing.map {
            .init(maxFlushDelay: $0.delay, maxBytes: $0.bytes)
          }
          config.channelDebuggingCallbacks.onCreateTCPConnection = { channel in
            socket.apply(to: channel).flatMapThrowing {
              try security.protect(channel)
              try LateFrameGuard.protect(channel)
            }
          }
          config.channelDebuggingCallbacks.onCreateHTTP2Stream = { [messages] channel in
            channel.eventLoop.makeCompletedFuture {
              try messages.addHandlers(
                toCall: channel, maxMessageBytes: transport.maxMessageBytes)
            }
          }
        },
        eventLoopGroup: loop.loop)
    } catch let error as RuntimeError {
      // All other settings were validated before.
      throw ConfigurationError(
        setting: "security.tls", value: "\(error.cause.map { "\($0)" } ?? error.message)",
        range: "certificates and a key that belong together, as PEM")
    }
  }

  /// The options of every call.
  package var callOptions: CallOptions {
    var options = CallOptions.defaults
    options.maxRequestMessageBytes = self.transport.maxMessageBytes
    options.maxResponseMessageBytes = self.transport.maxMessageBytes
    return options
  }

  /// Runs `body`, on the loop of the connection if the configuration says so.
  private func run<Result: Sendable>(
    on loop: ConnectionLoop, _ body: () async throws -> Result
  ) async throws -> Result {
    switch self.transport.executor {
    case .concurrent: try await body()
    case .eventLoops:
      try await withTaskExecutorPreference(loop.executor) { try await body() }
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

extension Address {
  /// Returns the IP addresses of a host name, with the port; an address without a name itself.
  ///
  /// - Throws: `RPCError` if the name cannot be looked up.
  package func resolved() async throws -> [Address] {
    guard case .tcp(let host, let port) = self, !host.isIPAddress else { return [self] }
    let resolver = NameResolvers.DNS().resolver(for: ResolvableTargets.DNS(host: host, port: port))
    for try await result in resolver.names {
      return result.endpoints.flatMap(\.addresses).compactMap { address in
        let host = address.ipv4?.host ?? address.ipv6?.host
        return host.map { .tcp(host: $0, port: port) }
      }
    }
    return []
  }

  /// Returns the addresses at which a server of this machine is reached. One that listens on all
  /// interfaces has the addresses of all.
  package static func ofThisMachine(listening addresses: [Address]) -> Set<Address> {
    let hosts = ((try? System.enumerateDevices()) ?? []).compactMap(\.address?.ipAddress)
    return addresses.reduce(into: []) { result, address in
      guard case .tcp(let own, let port) = address, ["0.0.0.0", "::"].contains(own) else {
        result.insert(address)
        return
      }
      for host in hosts { result.insert(.tcp(host: host, port: port)) }
    }
  }
}
