package import Logging
package import Metrics
import SidelightKernelLanguage
package import SidelightServer
package import Tracing

/// Runs a real server on a port of the system's choice on loopback, for as long as `body` runs.
///
/// - Parameters:
///   - configuration: The settings. The server listens on `addresses`, waits longer for slow peers,
///     and uses the TLS of `TestSecurity.current` unless `configuration` has TLS.
///   - clock: The clock of sessions. `nil` is the system's, with a limit of 600 s for custom
///     filters.
///   - logger: The logger. `nil` discards messages.
///   - body: Receives the server and the first address that it listens on.
/// - Throws: The error of `body`, or of the server if it cannot listen.
package func withServer<Result: Sendable>(
  _ configuration: ServerConfiguration = ServerConfiguration(),
  catalogue: FilterCatalogue = .builtIn,
  authenticator: (any Authenticator)? = nil,
  web: WebEndpoint? = nil,
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
  configuration.tls = configuration.tls ?? TestSecurity.current?.server
  let server = SidelightServer(
    configuration: configuration, catalogue: catalogue, authenticator: authenticator, web: web,
    tracer: tracer ?? NoOpTracer(), metrics: metrics, clock: clock ?? .system,
    logger: logger ?? .silent)
  return try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try? await server.run() }
    let result = try await body(server, try await server.listeningAddresses[0])
    group.cancelAll()
    return result
  }
}

extension GuardConfiguration {
  /// Extends the timeouts that a test has not set. On a busy machine a client may wait for a
  /// processor for seconds, and must not count as silent, dead or stalled.
  package mutating func extendTimeouts() {
    let usual = GuardConfiguration()
    if self.prefaceTimeout == usual.prefaceTimeout { self.prefaceTimeout = .seconds(600) }
    if self.keepaliveTimeout == usual.keepaliveTimeout { self.keepaliveTimeout = .seconds(600) }
    if self.writeStallTimeout == usual.writeStallTimeout { self.writeStallTimeout = .seconds(600) }
    if self.lingerTimeout == usual.lingerTimeout { self.lingerTimeout = .seconds(600) }
  }
}

extension ServerConfiguration {
  /// Returns a configuration that offers shared memory.
  package static func withSharedMemory(
    _ configure: (inout SharedMemoryConfiguration) -> Void = { _ in }
  ) -> ServerConfiguration {
    var configuration = ServerConfiguration()
    var sharedMemory = SharedMemoryConfiguration()
    configure(&sharedMemory)
    configuration.sharedMemory = sharedMemory
    return configuration
  }
}

extension Logger {
  /// A logger that discards messages.
  package static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
