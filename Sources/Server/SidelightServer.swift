import AsyncAlgorithms
import CVersion
import GRPCCore
public import Logging
public import Metrics
public import ServiceLifecycle
public import SidelightKernelLanguage
@_exported public import SidelightKernels
package import SidelightTransport
@_exported public import SidelightWire
import Synchronization
public import Tracing

/// A gRPC server that filters live video.
///
/// ```swift
/// var catalogue = FilterCatalogue.builtIn
/// catalogue.register(MyFilter.self)
/// let server = SidelightServer(catalogue: catalogue)
/// try await ServiceGroup(
///   services: [server], gracefulShutdownSignals: [.sigterm], logger: logger
/// ).run()
/// ```
public final class SidelightServer: Service {
  private let configuration: ServerConfiguration
  let engine: Engine
  let guards: Guards
  private let listeners: [Listener]
  /// The listener of the web endpoint, if any.
  private let webListener: WebListener?
  private let authorizer: Authorizer
  /// The certificates of TCP addresses; `nil` disables TLS.
  private let certificates: CertificateStore?
  private let currentPhase = Mutex(ServerPhase.starting)
  private let health: HealthStatusStore

  /// Creates a server. ``run()`` binds its addresses.
  ///
  /// - Parameters:
  ///   - configuration: The addresses and limits.
  ///   - catalogue: The filters that clients may choose from.
  ///   - authenticator: Validates bearer tokens. `nil` ignores the header.
  ///   - tracer: The tracer. `nil` uses the tracer of `InstrumentationSystem`.
  ///   - metrics: The metrics factory. `nil` uses the factory of `MetricsSystem`.
  ///   - logger: The logger.
  public convenience init(
    configuration: ServerConfiguration = ServerConfiguration(),
    catalogue: FilterCatalogue = .builtIn,
    authenticator: (any Authenticator)? = nil,
    tracer: (any Tracer)? = nil,
    metrics: (any MetricsFactory)? = nil,
    logger: Logger = Logger(label: "sidelight")
  ) {
    self.init(
      configuration: configuration, catalogue: catalogue, authenticator: authenticator,
      tracer: tracer, metrics: metrics, clock: .system, logger: logger)
  }

  package init(
    configuration: ServerConfiguration, catalogue: FilterCatalogue,
    authenticator: (any Authenticator)? = nil, web: WebEndpoint? = nil, tracer: (any Tracer)?,
    metrics: (any MetricsFactory)? = nil, clock: SessionClock = .system, logger: Logger
  ) {
    let tracer = tracer ?? InstrumentationSystem.tracer
    let metrics = ServerMetrics(factory: metrics ?? MetricsSystem.factory)
    self.engine = Engine(
      configuration: configuration, catalogue: catalogue,
      tracing: FrameTracing(tracer: tracer, metrics: metrics, clock: clock), metrics: metrics,
      clock: clock, logger: logger)
    let authorizer = Authorizer(
      authenticator: authenticator, rules: configuration.identity,
      requestsCertificates: (configuration.tls?.clientCertificates ?? .none) != .none)
    self.authorizer = authorizer
    let certificates = configuration.tls.map {
      CertificateStore($0, now: { clock.sinceEpoch }, logger: logger)
    }
    self.certificates = certificates
    let interceptors: [any ServerInterceptor] = [
      UnreadableMessageInterceptor(),
      CallInterceptor(tracer: tracer, metrics: metrics, clock: clock),
      AuthenticationInterceptor(authorizer: authorizer, clock: clock, logger: logger),
    ]
    let ownServices = [
      Sidelight_V1_FrameFilter.descriptor, Sidelight_V1_Assets.descriptor,
      Sidelight_V1_Sessions.descriptor,
    ].map(\.fullyQualifiedService)
    let standardServices =
      [
        Grpc_Health_V1_Health.descriptor.fullyQualifiedService,
        Xds_Service_Orca_V3_OpenRcaService.descriptor.fullyQualifiedService,
      ] + ReflectionService.names
    self.health = HealthStatusStore(
      services: ownServices, filters: catalogue.allDescriptions.filter(\.isRemote).map(\.name))
    let services: [any RegistrableRPCService] = [
      FrameFilterService(engine: self.engine, configuration: configuration),
      AssetsService(engine: self.engine), SessionsService(engine: self.engine),
      HealthService(statuses: self.health), LoadReportService(engine: self.engine),
      ReflectionService(services: ownServices + standardServices),
    ]
    var limits = configuration.guards
    limits.drainTimeout = limits.drainTimeout ?? configuration.closeTimeout
    let guards = Guards(
      configuration: limits,
      maxMessageBytes: configuration.transport.maxMessageBytes,
      counters: self.engine.observability.connections)
    self.guards = guards
    let descriptors = configuration.listeningDescriptors
    self.listeners = configuration.addresses.enumerated().map { index, address in
      Listener(
        Listener.Socket(
          address: address, descriptor: index < descriptors.count ? descriptors[index] : nil,
          unixSocketPermissions: configuration.unixSocketPermissions),
        transport: configuration.transport, guards: guards, certificates: certificates,
        services: services, interceptors: interceptors)
    }
    self.webListener = web.map { endpoint in
      WebListener(
        endpoint.address, site: endpoint.site, transport: configuration.transport, guards: guards,
        services: services, interceptors: interceptors)
    }
    self.configuration = configuration
  }

  /// Serves on all addresses until the task is cancelled or graceful shutdown begins. Sessions then
  /// have `drainTimeout` to finish the frames in flight. A second call throws.
  ///
  /// - Throws: `ListeningError` if an address cannot be bound, `TLSFileError` if a certificate or
  ///   key is invalid, `ConfigurationError` if a setting is out of its range, `RuntimeError` if the
  ///   descriptor socket of shared memory cannot be bound. The server then doesn't serve any
  ///   address.
  public func run() async throws {
    defer { self.engine.processing.compute.shutdown() }
    // Health checks report the shutdown before connections begin to close.
    try await withGracefulShutdownHandler {
      try await self.withDetachedJobs {
        try await self.withDescriptorSocket { try await self.serve() }
      }
    } onGracefulShutdown: {
      // Sessions are asked to leave afterwards: handlers run in the order of their registration.
      self.engine.planDrain(self.configuration.placement)
      self.health.stopServing()
      self.enter(.draining)
    }
  }

  private func serve() async throws {
    enum Part {
      case listener
      case closeTimeout
      case helper
    }
    do {
      try self.configuration.transport.validateWithSystem()
      try self.configuration.quotas.validate()
      try self.validate(self.configuration)
      try self.configuration.validateDescriptors()
      try self.certificates?.load()
    } catch {
      for listener in self.listeners { listener.fail(error) }
      self.webListener?.fail(error)
      throw error
    }
    try await EventLoops.with(self.configuration.transport.eventLoops) { loops in
      try await withThrowingTaskGroup(of: Part.self) { group in
        for listener in self.listeners {
          group.addTask {
            try await listener.serve(on: loops)
            return .listener
          }
        }
        if let webListener = self.webListener {
          group.addTask {
            try await webListener.serve(on: loops)
            return .listener
          }
        }
        if let idleTime = self.configuration.releaseMemoryAfter {
          group.addTask {
            await IdleMemoryReleaser(engine: self.engine, idleTime: idleTime).run()
            return .helper
          }
        }
        group.addTask {
          await self.runMaintenance()
          return .helper
        }
        if let peers = self.engine.peers {
          group.addTask {
            await cancelWhenGracefulShutdown {
              await peers.run(ownAddresses: (try? await self.listeningAddresses) ?? [])
            }
            return .helper
          }
          if self.configuration.placement.rebalancing != .off {
            group.addTask {
              await cancelWhenGracefulShutdown {
                await self.engine.rebalance(self.configuration.placement)
              }
              return .helper
            }
          }
        }
        group.addTask {
          // Throws only when the group is cancelled. The wait then returns immediately.
          try? await gracefulShutdown()
          // A peer that does not read would otherwise delay the close of its connection
          // indefinitely.
          await self.engine.clock.wait(self.configuration.closeTimeout)
          return .closeTimeout
        }
        // A failure of one address ends the others, because its error cancels the group.
        var listening = self.listeners.count + (self.webListener == nil ? 0 : 1)
        while listening > 0, let part = try await group.next() {
          switch part {
          case .listener: listening -= 1
          case .closeTimeout: group.cancelAll()
          case .helper: break
          }
        }
        group.cancelAll()
      }
    }
  }

  /// Updates metrics and the history once a second, as soon as all addresses are bound.
  private func runMaintenance() async {
    // `serve()` throws the error of an address that cannot be bound.
    guard (try? await self.listeningAddresses) != nil else { return }
    self.enter(.serving)
    for await _ in AsyncTimerSequence.repeating(every: .seconds(1)) { self.engine.recordSecond() }
  }

  private func enter(_ phase: ServerPhase) {
    self.currentPhase.withLock { current in
      if current != .draining { current = phase }
    }
  }

  /// Runs detached jobs of sessions while `body` serves, until all have returned.
  private func withDetachedJobs(_ body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await self.engine.processing.detachedJobs.run() }
      defer { self.engine.processing.detachedJobs.finish() }
      try await self.lendingThreads(body)
    }
  }

  /// Lends threads to short frames that wait for long work while `body` serves.
  private func lendingThreads(_ body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await self.engine.processing.scheduler.lendThreads() }
      defer { group.cancelAll() }
      try await body()
    }
  }

  /// Passes rings to clients while `body` serves, if shared memory is offered.
  private func withDescriptorSocket(_ body: () async throws -> Void) async throws {
    guard let broker = self.engine.rings, let configuration = self.configuration.sharedMemory
    else { return try await body() }
    let socket: DescriptorSocketServer
    do {
      socket = try await DescriptorSocketServer(
        at: configuration.socketPath,
        limits: DescriptorSocketServer.Limits(
          allowedUserIDs: configuration.allowedUserIDs,
          maxPendingConnections: configuration.maxPendingConnections,
          timeout: configuration.descriptorSocketTimeout),
        logger: self.engine.observability.logger)
    } catch let error as CancellationError {
      throw error
    } catch {
      throw RuntimeError(
        code: .transportError, message: "Shared memory cannot be offered: \(error).", cause: error)
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        broker.setSocketPath(socket.path)
        await socket.run {
          broker.take($0)
        } onStop: {
          broker.setSocketPath(nil)
        }
      }
      defer { group.cancelAll() }
      try await body()
    }
  }

  /// Reads certificates, keys and clients' authorities again, for new connections. Open connections
  /// and their sessions keep the certificates that they began with. Has no effect on a server
  /// without TLS.
  ///
  /// - Parameter settings: The files, and the requirements for client certificates. `nil` keeps the
  ///   settings.
  /// - Throws: `TLSFileError` if a file is invalid. The server then keeps its certificates.
  public func reloadCertificates(_ settings: ServerTLS? = nil) throws(TLSFileError) {
    try self.certificates?.load(settings)
    if let settings, settings.clientCertificates != .none {
      self.authorizer.requireAuthentication()
    }
  }

  /// The scopes of callers that their connection identifies, for new calls.
  public var identity: IdentityConfiguration {
    get { self.authorizer.rules }
    set { self.authorizer.rules = newValue }
  }

  /// The addresses that the server listens on, with the ports that the system chose. Waits until
  /// all are bound.
  ///
  /// - Throws: The error of ``run()`` if an address could not be bound, `CancellationError` if the
  ///   server has stopped.
  public var listeningAddresses: [Address] {
    get async throws {
      var addresses: [Address] = []
      for listener in self.listeners { addresses.append(try await listener.boundAddress) }
      return addresses
    }
  }

  /// The address of the web endpoint, with the port that the system chose. Waits until it is bound.
  ///
  /// - Returns: `nil` if the server doesn't have a web endpoint.
  /// - Throws: As ``listeningAddresses``.
  package var webAddress: Address? {
    get async throws { try await self.webListener?.boundAddress }
  }

  /// Whether callers must authenticate.
  package var requiresAuthentication: Bool { self.authorizer.requiresAuthentication }

  /// The number of open sessions.
  public var sessionCount: Int { self.engine.admission.sessions.count }

  /// The bytes of all mapped rings.
  package var ringBytes: Int { self.engine.rings?.bytesReserved ?? 0 }

  /// The number of assets, their bytes in memory, and the bytes of unfinished uploads.
  package var assetContents: (count: Int, bytes: Int, uploadBytes: Int) {
    self.engine.assets.contents
  }

  /// The number of times that a guard has closed a connection, or ended or reset a call, by guard.
  package var guardCounts: [Guard: Int] { self.engine.observability.connections.counts.guards }

  /// The number of connections that have ended, by reason.
  package var connectionEnds: [ConnectionEnd: UInt64] {
    self.engine.observability.connections.counts.ended
  }

  /// The phase of the server. It accepts sessions while it is ``ServerPhase/serving``.
  public var phase: ServerPhase { self.currentPhase.withLock { $0 } }

  /// The filters, mattes and face finders of filter processes, with the reason why they cannot run at
  /// present: their process is being started again. `nil` for those that run. The health service reports
  /// them as `sidelight.v1.FrameFilter/NAME`; the server itself goes on serving.
  public var filterOutages: [String: String?] {
    get { self.health.filterOutages }
    set { self.health.filterOutages = newValue }
  }

  /// Whether callers can authenticate using tokens.
  package var acceptsTokens: Bool { self.authorizer.acceptsTokens }

  /// The scopes of a caller's token; `nil` without a valid one.
  ///
  /// - Parameter authorization: The values of its request's header `authorization`.
  package func scopes(authorization: [String]) async -> Set<Scope>? {
    let principal = try? await self.authorizer.principal(
      authorization: authorization, at: self.engine.clock.sinceEpoch)
    return principal?.scopes
  }

  /// The status of the server now.
  public var status: ServerStatus { self.engine.status(in: self.phase) }

  /// Updates the metrics. The server does so once a second; a caller that reads them in between
  /// calls this first.
  public func updateMetrics() { self.engine.observability.metrics.update(from: self.engine) }

  /// The statistics of the frame buffers.
  public var poolStatistics: BufferPool.Statistics { self.engine.processing.pool.statistics }
}

/// An address at which a server speaks HTTP: it serves a site, and calls on WebSockets
/// (`docs/reference/websocket.md`).
package struct WebEndpoint: Sendable {
  /// The address: a TCP address or a Unix socket.
  package var address: Address
  /// The pages, and the rules about who may open a WebSocket.
  package var site: any WebSite

  package init(address: Address, site: any WebSite) {
    self.address = address
    self.site = site
  }
}

/// The version of this build.
public enum SidelightVersion {
  /// The version in the form of semver.org: 0.0.0 unless the build is for a package.
  public static let current = String(cString: cversion_current())
}
