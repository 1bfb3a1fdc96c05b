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

/// `sidelight serve`: runs the server. Its flags are the settings.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run the server.",
    usage: "sidelight serve [--listen <address> ...] [--config <path>] [<setting> ...]",
    discussion: """
      Runs until SIGTERM or SIGINT; sessions then finish their frames in flight.
      A second signal stops the server at once. SIGHUP reloads the settings.

        sidelight serve --listen 127.0.0.1:50051 --listen unix:/run/sidelight.sock

      \(SettingsHelp.everyday)
      """)

  @Argument(
    parsing: .captureForPassthrough, help: .hidden,
    completion: .list(SettingTable.all.compactMap(\.flag) + CommandLineSource.otherFlags))
  var arguments: [String] = []

  /// Returns the settings from the arguments, the environment and a file.
  ///
  /// - Throws: `ExitCode` after faults have been printed; `CleanExit` for help and other requests.
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

  /// Runs the server on the main thread, and exits.
  @MainActor
  func main() async {
    do {
      // Before a second thread starts, since it changes the environment.
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

  /// Runs the server with the given settings.
  ///
  /// - Parameter worker: The worker that this process is. `nil` if it is not a worker.
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
      // Steps that can fail come first, those with effects last.
      guard configuration.isClosed(like: settings.configuration) else { throw TurnedOnOrOff() }
      let rules: TokenAuthenticator.Rules? =
        if let tokens = configuration.tokens { try await authenticator?.read(tokens) } else { nil }
      try server.reloadCertificates(configuration.server.tls)
      if let rules { authenticator?.adopt(rules) }
      level.level = configuration.logLevel
      server.reconfigure(configuration.server)
    }
    // Services end in reverse order: the exporter sends spans until none are created, and the admin
    // server answers probes while the server drains.
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

  /// Returns tracing as OpenTelemetry's environment variables configure it. `nil` disables it.
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
  /// Returns whether two configurations enable the same means of encryption and authentication.
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

/// Refuses to enable or disable authentication by a reload, which could open a server to everyone.
private struct TurnedOnOrOff: Error, CustomStringConvertible {
  var description: String {
    "enabling or disabling TLS, client certificates, tokens, or users and groups of Unix sockets "
      + "requires a restart"
  }
}

/// Prints the addresses once the server listens, one per line.
private struct Announcement: Service, CustomStringConvertible {
  let server: SidelightServer
  let admin: AdminServer?
  /// Whether this is a worker, whose supervisor prints the addresses.
  let isWorkers: Bool

  var description: String { "Announcement" }

  func run() async throws {
    // If there are none, the server reports the reason.
    let addresses = (try? await self.server.listeningAddresses) ?? []
    for address in addresses where !self.isWorkers {
      // Unbuffered, since the parent process may wait for the line.
      FileDescriptorOutput.standardOutput.write("listening on \(address)\n")
    }
    if let address = await self.admin?.listeningAddress {
      FileDescriptorOutput.standardOutput.write("admin on \(address)\n")
    }
    try await gracefulShutdown()
  }
}
