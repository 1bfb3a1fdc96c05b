import ArgumentParser
import Foundation
import Logging
import ServiceLifecycle
import SidelightAdmin
import SidelightConfiguration
import SidelightIdentity
import SidelightKernels
import SidelightServer
import SidelightSupervisor
import UnixSignals

/// `sidelight serve`: the server. Its flags are the table of settings.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs the server.",
    usage: "sidelight serve [--listen <address> ...] [--config <path>] [<setting> ...]",
    discussion: """
      Listens until SIGTERM or SIGINT; sessions then finish what is in flight.
      A second signal stops the server at once. SIGHUP reads the settings again.

        sidelight serve --listen 127.0.0.1:50051 --listen unix:/run/sidelight.sock

      \(SettingsHelp.everyday)
      """)

  @Argument(
    parsing: .captureForPassthrough, help: .hidden,
    completion: .list(SettingTable.all.compactMap(\.flag) + CommandLineSource.otherFlags))
  var arguments: [String] = []

  /// What the arguments, the environment and a file come to.
  ///
  /// - Throws: `ExitCode` when all that is wrong has been told; `CleanExit` with what else was asked for.
  func settings() throws -> Settings {
    let commandLine = CommandLineSource(self.arguments)
    switch commandLine.request {
    case .help: throw CleanExit.helpRequest(Self.self)
    case .version: throw CleanExit.message(SidelightVersion.current)
    case .helpAll: throw CleanExit.message(SettingsHelp.all)
    case .serve: return try Self.load(commandLine)
    case .printConfiguration: throw CleanExit.message(try Self.load(commandLine).table)
    case .printYAML: throw CleanExit.message(try Self.load(commandLine).yaml)
    }
  }

  func run() async throws { try await self.run(with: self.settings(), as: nil) }

  /// Runs to the end, as the only thread there is begins.
  @MainActor
  func main() async {
    do {
      // Before there is a second thread: it changes the environment.
      let worker = try Worker.inherited()
      let settings = try self.settings()
      guard worker != nil || settings.configuration.workers == 0 else {
        return try await Self.supervise(settings.configuration)
      }
      settings.configuration.allocatorSettings.apply()
      try await self.run(with: settings, as: worker)
    } catch {
      Self.exit(withError: error)
    }
  }

  /// Runs the server with settings that have been read already.
  ///
  /// - Parameter worker: What this process is; `nil`: the server alone.
  func run(with settings: Settings, as worker: Worker?) async throws {
    let configuration = settings.configuration.fitted(to: worker)
    let level = SharedLogLevel(configuration.logLevel)
    let logger = Logger(label: "sidelight") { [format = configuration.logFormat] label in
      SharedLevelLogHandler(
        LineLogHandler.standardError(label: label, format: format), level: level)
    }
    .naming(worker)
    let metrics = PrometheusRegistry(
      descriptions: [
        SidelightServer.metricDescriptions, OTLPExporter.descriptions, Self.workerMetrics,
      ]
      .reduce(ReloadWatch.metricDescriptions) { $0.merging($1) { one, _ in one } })
    worker?.tellStarts(to: metrics)
    let tracing = Self.tracing(logger: logger, metrics: metrics)
    let authenticator: TokenAuthenticator? =
      if let tokens = configuration.tokens {
        try await TokenAuthenticator(tokens, logger: logger)
      } else { nil }
    let server = SidelightServer(
      configuration: Self.server(configuration, worker),
      catalogue: try FilterCatalogue(providing: configuration.providedAssets),
      authenticator: authenticator,
      tracer: tracing?.tracer, metrics: metrics, logger: logger)
    let admin = configuration.admin.map { address in
      AdminServer(address: address, server: server, metrics: { metrics.text }, logger: logger)
    }
    let watch = ShutdownWatch(
      grace: configuration.shutdownGrace, isForcedBySecondSignal: worker == nil, logger: logger)
    let reload = await ReloadWatch(
      settings: settings,
      read: { [arguments] in
        try Settings(
          commandLine: CommandLineSource(arguments),
          environment: ProcessInfo.processInfo.environment)
      }, metrics: metrics, logger: logger
    ) { configuration in
      let configuration = configuration.fitted(to: worker)
      // What may fail comes first, and of that what changes something comes last.
      guard configuration.isClosed(like: settings.configuration) else { throw TurnedOnOrOff() }
      let rules: TokenAuthenticator.Rules? =
        if let tokens = configuration.tokens { try await authenticator?.read(tokens) } else { nil }
      try server.reloadCertificates(configuration.server.tls)
      if let rules { authenticator?.adopt(rules) }
      level.level = configuration.logLevel
      server.reconfigure(configuration.server)
    }
    // They end in the reverse of this order: spans are sent when nobody makes any more, and probes are
    // answered for as long as the server drains.
    let services: [(any Service)?] = [
      watch, tracing?.exporter, admin, reload, server,
      Announcement(server: server, admin: admin, isWorkers: worker != nil),
      worker.map { WorkerLink($0, server: server) },
    ]
    let group = ServiceGroupConfiguration(
      services: services.compactMap(\.self).map { .init(service: $0) },
      gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    try await ServiceGroup(configuration: group).run()
  }

  private static func load(_ commandLine: CommandLineSource) throws -> Settings {
    do throws(SettingFaults) {
      return try Settings(
        commandLine: commandLine, environment: ProcessInfo.processInfo.environment)
    } catch {
      let faults = error.all.map { "Error: \($0)\n" }.joined()
      FileHandle.standardError.write(Data("\(faults)See 'sidelight serve --help'.\n".utf8))
      throw ExitCode.validationFailure
    }
  }

  /// Where spans go, by OpenTelemetry's environment variables; `nil`: nowhere.
  private static func tracing(logger: Logger, metrics: PrometheusRegistry) -> OTLPTracing? {
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

extension ServeConfiguration {
  /// Whether connections are secured, and callers known, by the same means as with another configuration.
  fileprivate func isClosed(like other: ServeConfiguration) -> Bool {
    let (one, two) = (self.server, other.server)
    return (one.tls == nil) == (two.tls == nil)
      && (one.tls?.clientCertificates == .some(.none))
        == (two.tls?.clientCertificates == .some(.none))
      && (self.tokens == nil) == (other.tokens == nil)
      && (one.identity.unixUsers.isEmpty && one.identity.unixGroups.isEmpty)
        == (two.identity.unixUsers.isEmpty && two.identity.unixGroups.isEmpty)
  }
}

/// What a server begins with it keeps: whoever turned it off would let everybody in.
private struct TurnedOnOrOff: Error, CustomStringConvertible {
  var description: String {
    "TLS, clients' certificates, tokens, and users or groups of Unix sockets are turned on and off by a "
      + "restart only"
  }
}

/// Says where the server listens, one line an address, once it does.
private struct Announcement: Service, CustomStringConvertible {
  let server: SidelightServer
  let admin: AdminServer?
  /// Then the supervisor says where the server listens.
  let isWorkers: Bool

  var description: String { "Announcement" }

  func run() async throws {
    // Where there are none, the server itself says why.
    let addresses = (try? await self.server.listeningAddresses) ?? []
    for address in addresses where !self.isWorkers {
      // Unbuffered, since whoever started us may wait for the line.
      FileDescriptorOutput.standardOutput.write("listening on \(address)\n")
    }
    if let address = await self.admin?.listeningAddress {
      FileDescriptorOutput.standardOutput.write("admin on \(address)\n")
    }
    try await gracefulShutdown()
  }
}
