import ArgumentParser
import Foundation
import Logging
import ServiceLifecycle
import SidelightAdmin
import SidelightKernels
import SidelightServer
import SidelightTelemetry
import UnixSignals

/// `sidelight serve`: the server.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs the server.",
    discussion: """
      Listens until SIGTERM or SIGINT; sessions then finish what is in flight. A second signal stops
      the server at once.

        sidelight serve --listen 127.0.0.1:50051 --listen unix:/run/sidelight.sock
      """)

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Where to listen: IP:PORT (port 0 lets the system choose) or unix:PATH. May be repeated. "
        + "(default: 127.0.0.1:50051)",
      valueName: "address"),
    transform: Address.init(argument:))
  var listen: [Address] = [.tcp(host: "127.0.0.1", port: 50051)]

  @OptionGroup(title: "How frames travel") var transport: TransportOptions

  @Option(help: ArgumentHelp("Threads that filter.", valueName: "count"))
  var computeThreads = ComputePool.processorCount

  @Option(help: ArgumentHelp("Sessions at a time.", valueName: "count"))
  var maxSessions = ServerConfiguration().maxSessions

  @Option(help: ArgumentHelp("Sessions of one address at a time.", valueName: "count"))
  var maxSessionsPerCaller = ServerConfiguration().maxSessionsPerCaller

  @Option(
    help: ArgumentHelp(
      """
      The load from which on no session is let in: the work that arrives, as a part of what the \
      threads can do. 0: none is ever refused for load.
      """, valueName: "ratio"))
  var maxLoad = ServerConfiguration().maxLoad ?? 0

  @OptionGroup(title: "Who may call") var identity: IdentityOptions

  @OptionGroup(title: "Shared memory")
  var sharedMemory: SharedMemoryOptions

  @Option(
    help: ArgumentHelp(
      "What a shutdown may take; then whatever is left is cut off.", valueName: "seconds"))
  var shutdownGrace = 10.0

  @Option(
    help: ArgumentHelp("The least level that is logged, to standard error.", valueName: "level"))
  var logLevel = Logger.Level.info

  @Option(
    help: ArgumentHelp(
      "How the log looks: text or json. (default: text on a terminal, else json)",
      valueName: "format"),
    transform: LogFormat.init(argument:))
  var logFormat: LogFormat?

  @Option(
    help: ArgumentHelp(
      """
      Where probes (/livez, /readyz), /metrics, /version and a live page (/) are served over HTTP: \
      IP:PORT or unix:PATH. (default: nowhere)
      """, valueName: "address"),
    transform: Address.init(argument:))
  var admin: Address?

  func validate() throws {
    for (name, value) in [
      ("--compute-threads", self.computeThreads), ("--max-sessions", self.maxSessions),
      ("--max-sessions-per-caller", self.maxSessionsPerCaller),
    ] where !(1 ... 65536).contains(value) {
      throw ValidationError("\(name) is \(value), the range is 1 to 65536.")
    }
    guard (0.1 ... 3600).contains(self.shutdownGrace) else {
      throw ValidationError("--shutdown-grace is \(self.shutdownGrace), the range is 0.1 to 3600.")
    }
    guard (0 ... 1000).contains(self.maxLoad) else {
      throw ValidationError("--max-load is \(self.maxLoad), the range is 0 to 1000.")
    }
  }

  func run() async throws {
    var logger = Logger(label: "sidelight") { [logFormat] label in
      LineLogHandler.standardError(label: label, format: logFormat)
    }
    logger.logLevel = self.logLevel
    let metrics = PrometheusRegistry(
      descriptions: SidelightServer.metricDescriptions
        .merging(OTLPExporter.descriptions) { server, _ in server })
    let tracing = self.tracing(logger: logger, metrics: metrics)

    var configuration = ServerConfiguration()
    configuration.addresses = self.listen
    self.transport.apply(to: &configuration)
    configuration.computeThreads = self.computeThreads
    configuration.maxSessions = self.maxSessions
    configuration.maxSessionsPerCaller = self.maxSessionsPerCaller
    configuration.maxLoad = self.maxLoad == 0 ? nil : self.maxLoad
    try self.identity.apply(to: &configuration)
    configuration.sharedMemory = self.sharedMemory.configuration
    // Connections are cut off in time for the process to end by itself.
    configuration.drainTimeout = min(
      configuration.drainTimeout, .seconds(self.shutdownGrace * 0.6))
    configuration.guards.drainTimeout = .seconds(self.shutdownGrace * 0.8)
    let server = SidelightServer(
      configuration: configuration,
      authenticator: try await self.identity.authenticator(logger: logger), tracer: tracing?.tracer,
      metrics: metrics, logger: logger)
    let admin = self.admin.map { address in
      AdminServer(address: address, server: server, metrics: { metrics.text }, logger: logger)
    }

    let watch = ShutdownWatch(grace: .seconds(self.shutdownGrace), logger: logger)
    // They end in the reverse of this order: spans are sent when nobody makes any more, and probes are
    // answered for as long as the server drains.
    let services: [(any Service)?] = [
      watch, tracing?.exporter, admin, server, Announcement(server: server, admin: admin),
    ]
    let group = ServiceGroupConfiguration(
      services: services.compactMap(\.self).map { .init(service: $0) },
      gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    try await ServiceGroup(configuration: group).run()
  }

  /// Where spans go, by OpenTelemetry's environment variables; `nil`: nowhere.
  private func tracing(logger: Logger, metrics: PrometheusRegistry) -> OTLPTracing? {
    let configuration = OTLPConfiguration(
      environment: ProcessInfo.processInfo.environment
    ) { warning in
      logger.warning("\(warning)")
    }
    guard var configuration else { return nil }
    configuration.resource.merge(["service.version": SidelightVersion.current]) { told, _ in told }
    return OTLPTracing(configuration, logger: logger, metrics: metrics)
  }
}

extension LogFormat {
  /// Reads a format as the command line has it.
  ///
  /// - Throws: `ValidationError` that says what was expected.
  fileprivate init(argument: String) throws {
    guard let format = LogFormat(rawValue: argument) else {
      throw ValidationError("'\(argument)' is neither text nor json.")
    }
    self = format
  }
}

/// Says where the server listens, one line an address, once it does.
private struct Announcement: Service {
  let server: SidelightServer
  let admin: AdminServer?

  func run() async throws {
    // Where there are none, the server itself says why.
    let addresses = (try? await self.server.listeningAddresses) ?? []
    for address in addresses {
      // Unbuffered, since whoever started us may wait for the line.
      FileDescriptorOutput.standardOutput.write("listening on \(address)\n")
    }
    if let address = await self.admin?.listeningAddress {
      FileDescriptorOutput.standardOutput.write("admin on \(address)\n")
    }
    try await gracefulShutdown()
  }
}
