import ArgumentParser
import Foundation
import Logging
import Metrics
import ServiceLifecycle
import SidelightAdmin
import SidelightConfiguration
import SidelightFilterProcesses
import SidelightFleet
import SidelightIdentity
import SidelightKernels
import SidelightServer
import SidelightStudio
import SidelightSupervisor
import SidelightVision
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

      \(SettingsHelp.common)
      """)

  @Argument(
    parsing: .captureForPassthrough, help: .hidden,
    completion: .list(SettingTable.all.compactMap(\.flag) + CommandLineSource.otherFlags))
  var arguments: [String] = []

  /// The defaults of this command that differ from the settings' defaults, by key.
  var defaults: [String: [String]] = [:]
  /// The folder of the default socket. It is created if the server listens in it.
  var socketFolder: PrivateFolder?

  private enum CodingKeys: CodingKey {
    case arguments
  }

  /// Returns the settings from the arguments, the environment and a file.
  ///
  /// - Throws: `ExitCode` after errors have been printed; `CleanExit` for help and other requests.
  func settings() throws -> Settings {
    let commandLine = CommandLineSource(self.arguments)
    switch commandLine.request {
    case .help: throw CleanExit.helpRequest(Self.self)
    case .version: throw CleanExit.message(SidelightVersion.current)
    case .helpAll: throw CleanExit.message(SettingsHelp.all)
    case .serve: return try self.load(commandLine)
    case .printConfiguration: throw CleanExit.message(try self.loadToPrint(commandLine).table)
    case .printYAML: throw CleanExit.message(try self.loadToPrint(commandLine).yaml)
    }
  }

  func run() async throws {
    let settings = try self.settings()
    let folder = try self.makeSocketFolder(for: settings)
    defer { folder?.remove() }
    try await self.run(with: settings, as: nil)
  }

  /// Creates the folder of the default socket, if the server listens in it.
  private func makeSocketFolder(for settings: Settings) throws -> PrivateFolder? {
    guard let folder = self.socketFolder,
      settings.configuration.server.addresses.contains(.unix(path: folder.socket))
    else { return nil }
    try folder.make()
    return folder
  }

  /// Runs the server on the main thread.
  @MainActor
  func main() async throws {
    // Before a second thread starts, since it changes the environment.
    let worker = try Worker.inherited()
    let settings = try self.settings()
    // Workers get the sockets of their supervisor.
    let folder = try worker == nil ? self.makeSocketFolder(for: settings) : nil
    defer { folder?.remove() }
    guard worker != nil || settings.configuration.workers == 0 else {
      return try await Self.supervise(settings)
    }
    AllocatorSettings.frames.apply()
    ThreadCounts.ofThisProcess.apply(sharedAmong: worker?.count ?? 1)
    try await self.run(with: settings, as: worker)
  }

  /// Runs the server using the given settings.
  ///
  /// - Parameter worker: The worker that this process is. `nil` if it is not a worker.
  func run(with settings: Settings, as worker: Worker?) async throws {
    // Files that change while the server starts are read again.
    let versions = FileVersions(of: settings.files)
    let configuration = settings.configuration.adapted(to: worker)
    let level = SharedLogLevel(configuration.log.level)
    let logger = Logger(label: "sidelight") { [format = configuration.log.format] label in
      SharedLevelLogHandler(
        LineLogHandler.standardError(label: label, format: format), level: level)
    }
    .adding(worker)
    let metrics = PrometheusRegistry(
      descriptions: [
        SidelightServer.metricDescriptions, OTLPExporter.descriptions, Self.workerMetrics,
        FilterProcessHost.metricDescriptions, FleetService.metricDescriptions,
      ]
      .reduce(ReloadService.metricDescriptions) { $0.merging($1) { one, _ in one } })
    try await FilterProcessHost.with(
      configuration.filterProcesses, count: configuration.filterProcessCount,
      reloads: configuration.reloadsFilterProcesses, metrics: metrics, logger: logger
    ) { processes in
      try await self.run(with: settings, versions, as: worker, processes, metrics, level, logger)
    }
  }

  private func run(
    with settings: Settings, _ versions: FileVersions, as worker: Worker?,
    _ processes: FilterProcessHost, _ metrics: PrometheusRegistry, _ level: SharedLogLevel,
    _ logger: Logger
  ) async throws {
    let configuration = settings.configuration.adapted(to: worker)
    worker?.reportStarts(to: metrics)
    // The supervisor logs them for its workers.
    if worker == nil { settings.logWarnings(to: logger) }
    let tracing = Self.tracing(logger: logger, metrics: metrics)
    let authenticator: TokenAuthenticator? =
      if let tokens = configuration.tokens {
        try await TokenAuthenticator(tokens, logger: logger)
      } else { nil }
    var vision = try Self.vision(configuration, logger: logger)
    try await vision.add(processes)
    var catalogue = try FilterCatalogue(providing: configuration.providedAssets, vision: vision)
    try await processes.register(in: &catalogue)
    for filter in catalogue.allDescriptions {
      guard let (_, reason) = catalogue.unavailableFilter(named: filter.name) else { continue }
      logger.info(
        "filter not available", metadata: ["filter": "\(filter.name)", "reason": "\(reason)"])
    }
    let studio = configuration.studioConfiguration.map { studio in
      Studio(studio, acceptsBearerTokens: authenticator != nil) { url in
        FileDescriptorOutput.standardOutput.write("studio on \(url)\n")
      }
    }
    let server = SidelightServer(
      configuration: Self.server(configuration, worker), catalogue: catalogue,
      authenticator: authenticator, web: studio?.endpoint,
      tracer: tracing?.tracer, metrics: metrics, logger: logger)
    server.filterOutages = processes.filterOutages
    let admin = configuration.admin.map { address in
      AdminServer(
        address: address, server: server, metrics: { metrics.text },
        setLogLevel: { change in
          let (key, value) =
            change.session.map { ("session", $0) } ?? change.caller.map { ("caller", $0) }
            ?? (nil, "")
          level.set(change.level, where: key, is: value, for: change.duration)
        }, logger: logger)
    }
    let fleet = configuration.fleet.map {
      FleetService($0, server: server, metrics: metrics, logger: logger)
    }
    await fleet?.prepare()
    let watchdog = ShutdownWatchdog(
      grace: configuration.shutdownGrace, isForcedBySecondSignal: worker == nil, logger: logger)
    let reload = await ReloadService(
      settings: settings, versions: versions,
      read: { [arguments, defaults] in
        try Settings(
          commandLine: CommandLineSource(arguments),
          environment: ProcessInfo.processInfo.environment, defaults: defaults)
      }, metrics: metrics, logger: logger
    ) { configuration in
      let configuration = configuration.adapted(to: worker)
      // Steps that can fail come first, steps with effects last.
      guard configuration.hasSameAccessControl(as: settings.configuration) else {
        throw EndpointToggleError()
      }
      let rules: TokenAuthenticator.Rules? =
        if let tokens = configuration.tokens { try await authenticator?.read(tokens) } else { nil }
      try server.validate(configuration.server)
      try server.reloadCertificates(configuration.server.tls)
      if let rules { authenticator?.setRules(rules) }
      level.level = configuration.log.level
      server.reconfigure(configuration.server)
      processes.reload()
    }
    // Services end in reverse order: the exporter sends spans until the services that create them
    // have ended, the admin server answers probes while the server drains, and the fleet counts its
    // sessions until then.
    let services: [(any Service)?] = [
      watchdog, tracing?.exporter, admin, reload, fleet, server,
      Announcement(server: server, admin: admin, isWorker: worker != nil),
      studio.map { StudioAnnouncement(studio: $0, server: server) },
      FilterProcessHealth(processes: processes, server: server),
      worker.map { WorkerLink($0, server: server) },
    ]
    let group = ServiceGroupConfiguration(
      services: services.compactMap(\.self).map { .init(service: $0) },
      gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    try await ServiceGroup(configuration: group).run()
  }

  /// Loads the settings, and prints their warnings to standard error.
  private func loadToPrint(_ commandLine: CommandLineSource) throws -> Settings {
    let settings = try self.load(commandLine)
    let warnings = settings.warnings.map { "Warning: \($0)\n" }.joined()
    FileHandle.standardError.write(Data(warnings.utf8))
    return settings
  }

  private func load(_ commandLine: CommandLineSource) throws -> Settings {
    do throws(SettingErrors) {
      return try Settings(
        commandLine: commandLine, environment: ProcessInfo.processInfo.environment,
        defaults: self.defaults)
    } catch {
      let errors = error.all.map { "Error: \($0)\n" }.joined()
      FileHandle.standardError.write(Data("\(errors)See 'sidelight serve --help'.\n".utf8))
      throw ExitCode.validationFailure
    }
  }

  /// Loads the models.
  ///
  /// - Throws: `ValidationError` that names the model and its file.
  private static func vision(
    _ configuration: ServeConfiguration, logger: Logger
  ) throws -> VisionConfiguration {
    let start = ContinuousClock.now
    let vision = try VisionConfiguration(
      loading: configuration.models, onnxRuntime: configuration.onnxRuntime)
    if !configuration.models.isEmpty {
      logger.info(
        "models loaded",
        metadata: [
          "models": .array(configuration.models.map { "\($0)" }),
          "milliseconds": "\((ContinuousClock.now - start) / .milliseconds(1))",
        ])
    }
    return vision
  }

  /// Returns tracing as OpenTelemetry's environment variables configure it. `nil` disables it.
  private static func tracing(logger: Logger, metrics: PrometheusRegistry) -> OTLPTracing? {
    let configuration = OTLPConfiguration(
      environment: ProcessInfo.processInfo.environment
    ) { warning in
      logger.warning("\(warning)")
    }
    guard var configuration else { return nil }
    configuration.resource.merge(["service.version": SidelightVersion.current]) { configured, _ in
      configured
    }
    return OTLPTracing(configuration, logger: logger, metrics: metrics)
  }

  // MARK: Workers

  /// The help texts of the workers' metrics, by name.
  private static let workerMetrics = [
    Worker.startsName: "Number of starts of this worker's process, including the current one."
  ]

  /// Runs and supervises worker processes until they have drained.
  ///
  /// - Throws: `ExitCode` of a worker that failed to start or to drain.
  private static func supervise(_ settings: Settings) async throws {
    let configuration = settings.configuration
    let server = configuration.server
    let logger = Logger(label: "sidelight") { [log = configuration.log] label in
      var handler = LineLogHandler.standardError(label: label, format: log.format)
      handler.logLevel = log.level
      return handler
    }
    settings.logWarnings(to: logger)
    var supervisor = Supervisor(
      workers: configuration.workers, addresses: server.addresses, logger: logger)
    supervisor.unixSocketPermissions = server.unixSocketPermissions
    supervisor.shutdownGrace = configuration.shutdownGrace
    do {
      try await supervisor.run { addresses in
        for address in addresses {
          FileDescriptorOutput.standardOutput.write("listening on \(address)\n")
        }
      }
    } catch let failure as WorkerFailure {
      throw ExitCode(failure.end.exitCode)
    }
  }

  /// Returns the server configuration of a worker, using its supervisor's sockets.
  private static func server(
    _ configuration: ServeConfiguration, _ worker: Worker?
  ) -> ServerConfiguration {
    var server = configuration.server
    guard let worker else { return server }
    server.addresses = worker.addresses
    server.listeningDescriptors = worker.descriptors
    return server
  }
}

extension ServeConfiguration {
  /// Returns the configuration adapted to a worker, if this process is one.
  fileprivate func adapted(to worker: Worker?) -> ServeConfiguration {
    guard let worker else { return self }
    return self.forWorker(worker.index, of: worker.count, resumeKey: worker.resumeKey)
  }

  /// Returns whether two configurations enable the same kinds of encryption and authentication.
  fileprivate func hasSameAccessControl(as other: ServeConfiguration) -> Bool {
    let (one, two) = (self.server, other.server)
    return (one.tls == nil) == (two.tls == nil)
      && (one.tls?.clientCertificates == .some(.none))
        == (two.tls?.clientCertificates == .some(.none))
      && (self.tokens == nil) == (other.tokens == nil)
      && (one.identity.unixUsers.isEmpty && one.identity.unixGroups.isEmpty)
        == (two.identity.unixUsers.isEmpty && two.identity.unixGroups.isEmpty)
  }
}

/// Refuses to enable or disable authentication by a reload, which could open the server to all
/// clients.
private struct EndpointToggleError: Error, CustomStringConvertible {
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
  let isWorker: Bool

  var description: String { "Announcement" }

  func run() async throws {
    // If it does not listen, the server reports the reason.
    let addresses = (try? await self.server.listeningAddresses) ?? []
    for address in addresses where !self.isWorker {
      // Unbuffered, since the parent process may wait for the line.
      FileDescriptorOutput.standardOutput.write("listening on \(address)\n")
    }
    if let address = await self.admin?.listeningAddress {
      FileDescriptorOutput.standardOutput.write("admin on \(address)\n")
    }
    try await gracefulShutdown()
  }
}

/// Prints the URL of the studio once the server listens, and whenever its token has been used.
private struct StudioAnnouncement: Service, CustomStringConvertible {
  let studio: Studio
  let server: SidelightServer

  var description: String { "StudioAnnouncement" }

  func run() async throws {
    await self.studio.run(with: self.server)
    try await gracefulShutdown()
  }
}

/// Reports filters to the server's health while their process is started again.
private struct FilterProcessHealth: Service, CustomStringConvertible {
  let processes: FilterProcessHost
  let server: SidelightServer

  var description: String { "FilterProcessHealth" }

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await self.processes.reportFilterOutages { self.server.filterOutages = $0 }
    }
    try await gracefulShutdown()
  }
}

extension Worker {
  fileprivate static let startsName = "sidelight_worker_starts"

  /// Records how often this worker has been started.
  fileprivate func reportStarts(to metrics: any MetricsFactory) {
    Gauge(
      label: Self.startsName, dimensions: [("worker", "\(self.index)")], factory: metrics
    ).record(self.starts)
  }
}

extension Logger {
  /// Adds the number of the worker, if any, to every log entry.
  fileprivate func adding(_ worker: Worker?) -> Logger {
    guard let worker else { return self }
    var logger = self
    logger[metadataKey: "worker"] = "\(worker.index)"
    return logger
  }
}
