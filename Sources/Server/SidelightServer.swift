import AsyncAlgorithms
import GRPCCore
public import Logging
public import Metrics
public import ServiceLifecycle
public import SidelightKernels
package import SidelightTransport
public import SidelightWire
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
  private let gatekeeper: Gatekeeper
  /// How TCP addresses are secured; `nil`: they are not.
  private let certificates: CertificateStore?
  private let currentPhase = Mutex(ServerPhase.starting)
  private let health: HealthStatusStore

  /// Makes a server; nothing is bound before ``run()``.
  ///
  /// - Parameters:
  ///   - configuration: How it listens, and what it accepts.
  ///   - catalogue: The filters that clients may choose from.
  ///   - authenticator: Says whose bearer tokens are. None: they are not looked at.
  ///   - tracer: Where spans go. None: the one that `InstrumentationSystem` was bootstrapped with.
  ///   - metrics: Where metrics go. None: the one that `MetricsSystem` was bootstrapped with.
  ///   - logger: Where logs go.
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
    authenticator: (any Authenticator)? = nil, tracer: (any Tracer)?,
    metrics: (any MetricsFactory)? = nil, clock: SessionClock, logger: Logger
  ) {
    let tracer = tracer ?? InstrumentationSystem.tracer
    let metrics = ServerMetrics(factory: metrics ?? MetricsSystem.factory)
    self.engine = Engine(
      configuration: configuration, catalogue: catalogue,
      tracing: FrameTracing(tracer: tracer, metrics: metrics, clock: clock), metrics: metrics,
      clock: clock, logger: logger)
    let gatekeeper = Gatekeeper(authenticator: authenticator, configuration: configuration)
    self.gatekeeper = gatekeeper
    let certificates = configuration.tls.map {
      CertificateStore($0, now: { clock.sinceEpoch }, logger: logger)
    }
    self.certificates = certificates
    let interceptors: [any ServerInterceptor] = [
      UnreadableMessages(), CallInterceptor(tracer: tracer, metrics: metrics, clock: clock),
      AuthenticationInterceptor(gatekeeper: gatekeeper, clock: clock, logger: logger),
    ]
    let own = [
      Sidelight_V1_FrameFilter.descriptor, Sidelight_V1_Assets.descriptor,
      Sidelight_V1_Sessions.descriptor,
    ].map(\.fullyQualifiedService)
    let standard =
      [Grpc_Health_V1_Health.descriptor.fullyQualifiedService] + ReflectionService.names
    self.health = HealthStatusStore(services: own)
    let services: [any RegistrableRPCService] = [
      FrameFilterService(engine: self.engine, configuration: configuration),
      AssetsService(engine: self.engine), SessionsService(engine: self.engine),
      HealthService(statuses: self.health), ReflectionService(services: own + standard),
    ]
    let guards = Guards(
      configuration: configuration.guards,
      maxMessageBytes: configuration.transport.maxMessageBytes,
      ledger: self.engine.observability.connections)
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
    self.configuration = configuration
  }

  /// Serves on all addresses until the task is cancelled or graceful shutdown begins; then lets
  /// sessions finish what is in flight, for as long as the configuration allows. A second call throws.
  ///
  /// - Throws: `ListeningError` if an address cannot be bound, `TLSFault` if a certificate or key
  ///   is not good, `ConfigurationFault` if a setting is out of its range, `RuntimeError` if the descriptor socket of shared memory cannot be bound. Then none
  ///   is served.
  public func run() async throws {
    defer { self.engine.processing.compute.shutdown() }
    // Whoever asks or watches is told before connections are asked to end.
    try await withGracefulShutdownHandler {
      try await self.withOpenEndedWork {
        try await self.withDescriptorSocket { try await self.serve() }
      }
    } onGracefulShutdown: {
      self.health.stopServing()
      self.enter(.draining)
    }
  }

  private func serve() async throws {
    enum Part {
      case listener
      case drainTimeout
      case helper
    }
    do {
      try self.configuration.transport.validate()
      try self.configuration.quotas.validate()
      try self.configuration.validateDescriptors()
      try self.certificates?.load()
    } catch {
      for listener in self.listeners { listener.fail(error) }
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
        if let idleTime = self.configuration.releaseMemoryAfter {
          group.addTask {
            await IdleMemoryReleaser(engine: self.engine, idleTime: idleTime).run()
            return .helper
          }
        }
        group.addTask {
          await self.keepHouse()
          return .helper
        }
        group.addTask {
          try? await gracefulShutdown()
          // A peer that does not read keeps its connection from closing, for as long as it likes.
          await self.engine.clock.wait(self.engine.drainTimeout + Self.closingTime)
          return .drainTimeout
        }
        // An address that fails ends the others, as leaving with its error cancels the group.
        var listening = self.listeners.count
        while listening > 0, let part = try await group.next() {
          switch part {
          case .listener: listening -= 1
          case .drainTimeout: group.cancelAll()
          case .helper: break
          }
        }
        group.cancelAll()
      }
    }
  }

  /// What is to be done beside serving, once all addresses are bound: once a second metrics and the
  /// history are brought up to date.
  private func keepHouse() async {
    guard (try? await self.listeningAddresses) != nil else { return }
    self.enter(.serving)
    for await _ in AsyncTimerSequence.repeating(every: .seconds(1)) { self.engine.recordSecond() }
  }

  private func enter(_ phase: ServerPhase) {
    self.currentPhase.withLock { current in
      if current != .draining { current = phase }
    }
  }

  /// Runs what sessions leave behind, until all of it has come back.
  private func withOpenEndedWork(_ body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await self.engine.processing.detachedJobs.run() }
      defer { self.engine.processing.detachedJobs.finish() }
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
          timeout: configuration.companionTimeout),
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
          broker.redeem($0)
        } onStop: {
          broker.setSocketPath(nil)
        }
      }
      defer { group.cancelAll() }
      try await body()
    }
  }

  /// How long connections have to take the last that sessions say.
  private static let closingTime = Duration.seconds(1)

  /// Reads certificates, keys and clients' authorities again: connections that begin from now on have
  /// the new ones, those that stand go on with what they began with, and so do their sessions. Does
  /// nothing on a server without TLS.
  ///
  /// - Parameter settings: Which files, and what clients must show. None: the same as before.
  /// - Throws: `TLSFault` if one of them is not good. Then everything stays as it was.
  public func reloadCertificates(_ settings: ServerTLS? = nil) throws(TLSFault) {
    try self.certificates?.load(settings)
    if let settings, settings.clientCertificates != .none { self.gatekeeper.ask() }
  }

  /// Who may call by what his connection proves, for calls that begin from now on.
  public var identity: IdentityConfiguration {
    get { self.gatekeeper.rules }
    set { self.gatekeeper.rules = newValue }
  }

  /// Where the server listens, with the ports that the system chose. Waits until all addresses are
  /// bound.
  ///
  /// - Throws: What ``run()`` throws if an address could not be bound, `CancellationError` if the server
  ///   has stopped.
  public var listeningAddresses: [Address] {
    get async throws {
      var addresses: [Address] = []
      for listener in self.listeners { addresses.append(try await listener.boundAddress) }
      return addresses
    }
  }

  /// Sessions that stand now.
  public var sessionCount: Int { self.engine.admission.sessions.count }

  /// Bytes of the rings that are mapped.
  package var ringBytes: Int { self.engine.rings?.bytesTaken ?? 0 }

  /// Assets that callers have put, the bytes that they take in memory, and those of files on their way.
  package var assetContents: (count: Int, bytes: Int, uploadBytes: Int) {
    self.engine.assets.contents
  }

  /// How often each guard has closed a connection, or ended or reset a call.
  package var guardCounts: [Guard: Int] { self.engine.observability.connections.counts.guards }

  /// Connections that have ended, by the reason.
  package var connectionEnds: [ConnectionEnd: UInt64] {
    self.engine.observability.connections.counts.ended
  }

  /// Where the server stands. It takes sessions while it is ``ServerPhase/serving``.
  public var phase: ServerPhase { self.currentPhase.withLock { $0 } }

  /// What the server does at this moment.
  public var status: ServerStatus { self.engine.status(in: self.phase) }

  /// Brings metrics up to date. That is done once a second anyway; whoever asks for them now, and wants
  /// what clients have been told up to now, calls this before.
  public func updateMetrics() { self.engine.observability.metrics.update(from: self.engine) }

  /// What the frame buffers do.
  public var poolStatistics: BufferPool.Statistics { self.engine.processing.pool.statistics }
}
