import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Logging
import Metrics
import SidelightServer
import SidelightWire
import Tracing

/// Runs a real server on a port of the system's choice on loopback, for as long as `body` runs.
func withServer<Result: Sendable>(
  _ configuration: ServerConfiguration = ServerConfiguration(),
  catalogue: FilterCatalogue = .builtIn,
  authenticator: (any Authenticator)? = nil,
  tracer: (any Tracer)? = nil,
  metrics: any MetricsFactory = NOOPMetricsHandler.instance,
  clock: SessionClock? = nil,
  logger: Logger? = nil,
  listeningOn addresses: [Address] = [.tcp(host: "127.0.0.1", port: 0)],
  _ body: @Sendable (SidelightServer, Address) async throws -> Result
) async throws -> Result {
  var configuration = configuration
  configuration.addresses = addresses
  // On a busy machine a slow filter is not stuck. Tests of stuck filters set the clock.
  if clock == nil { configuration.customFilterTimeout = .seconds(600) }
  configuration.guards.extendTimeouts()
  var silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  silent.logLevel = .critical
  configuration.tls = configuration.tls ?? TestSecurity.current?.server
  let server = SidelightServer(
    configuration: configuration, catalogue: catalogue, authenticator: authenticator,
    tracer: tracer ?? NoOpTracer(), metrics: metrics, clock: clock ?? .system,
    logger: logger ?? silent)
  return try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try? await server.run() }
    let result = try await body(server, try await server.listeningAddresses[0])
    group.cancelAll()
    return result
  }
}

extension GuardConfiguration {
  /// Extends the timeouts that a test has not set. On a busy machine a client may get no processor
  /// for seconds, and must not count as silent, dead or stalled.
  mutating func extendTimeouts() {
    let usual = GuardConfiguration()
    if self.prefaceTimeout == usual.prefaceTimeout { self.prefaceTimeout = .seconds(600) }
    if self.keepaliveTimeout == usual.keepaliveTimeout { self.keepaliveTimeout = .seconds(600) }
    if self.writeStallTimeout == usual.writeStallTimeout { self.writeStallTimeout = .seconds(600) }
    if self.lingerTimeout == usual.lingerTimeout { self.lingerTimeout = .seconds(600) }
  }
}

/// A client of generated code only, as in another language.
func withStub<Result: Sendable>(
  _ address: Address, transport: TransportConfiguration = TransportConfiguration(),
  security: HTTP2ClientTransport.Posix.TransportSecurity? = nil,
  _ body: (Sidelight_V1_FrameFilter.Client<HTTP2ClientTransport.Posix>) async throws -> Result
) async throws -> Result {
  try await withConnection(address, transport: transport, security: security) { client in
    try await body(Sidelight_V1_FrameFilter.Client(wrapping: client))
  }
}

/// A connection for any generated client.
func withConnection<Result: Sendable>(
  _ address: Address, transport: TransportConfiguration = TransportConfiguration(),
  security: HTTP2ClientTransport.Posix.TransportSecurity? = nil,
  _ body: (GRPCClient<HTTP2ClientTransport.Posix>) async throws -> Result
) async throws -> Result {
  let target: any ResolvableTarget =
    switch address {
    case .tcp("localhost", let port): .dns(host: "localhost", port: port)
    case .tcp(let host, let port) where host.contains(":"): .ipv6(address: host, port: port)
    case .tcp(let host, let port): .ipv4(address: host, port: port)
    case .unix(let path): .unixDomainSocket(path: path)
    }
  return try await withGRPCClient(
    transport: try .http2NIOPosix(
      target: target, transportSecurity: security ?? TestSecurity.current?.client ?? .plaintext,
      config: .defaults { $0.http2.targetWindowSize = transport.streamWindowBytes }),
    handleClient: body)
}

/// Options that let frames of any size that the server accepts pass.
var largeMessages: CallOptions {
  var options = CallOptions.defaults
  options.maxRequestMessageBytes = 256 << 20
  options.maxResponseMessageBytes = 256 << 20
  return options
}
