public import Logging
import GRPCCore
import GRPCNIOTransportHTTP2Posix
public import ServiceLifecycle
public import SidelightKernels
public import SidelightWire
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
  private let engine: Engine
  private let listeners: [Listener]
  private let health: HealthBoard
  private let ledger: GuardLedger

  /// Makes a server; nothing is bound before ``run()``.
  ///
  /// - Parameters:
  ///   - configuration: How it listens, and what it accepts.
  ///   - catalogue: The filters that clients may choose from.
  ///   - tracer: Where spans go. None: the one that `InstrumentationSystem` was bootstrapped with.
  ///   - logger: Where logs go.
  public convenience init(
    configuration: ServerConfiguration = ServerConfiguration(),
    catalogue: FilterCatalogue = .builtIn,
    tracer: (any Tracer)? = nil,
    logger: Logger = Logger(label: "sidelight")
  ) {
    self.init(
      configuration: configuration, catalogue: catalogue, tracer: tracer, clock: .system,
      logger: logger)
  }

  package init(
    configuration: ServerConfiguration, catalogue: FilterCatalogue, tracer: (any Tracer)?,
    clock: SessionClock, logger: Logger
  ) {
    self.engine = Engine(
      configuration: configuration, catalogue: catalogue,
      tracing: FrameTracing(tracer: tracer ?? InstrumentationSystem.tracer),
      clock: clock, logger: logger)
    let own = [Sidelight_V1_FrameFilter.descriptor, Sidelight_V1_Sessions.descriptor]
      .map(\.fullyQualifiedService)
    let standard =
      [Grpc_Health_V1_Health.descriptor.fullyQualifiedService] + ReflectionService.names
    self.health = HealthBoard(services: own)
    let services: [any RegistrableRPCService] = [
      FrameFilterService(engine: self.engine), SessionsService(engine: self.engine),
      HealthService(board: self.health), ReflectionService(services: own + standard),
    ]
    self.ledger = GuardLedger(logger: logger)
    let guards = Guards(
      configuration: configuration.guards,
      maxMessageBytes: configuration.transport.maxMessageBytes, ledger: self.ledger)
    self.listeners = configuration.addresses.map {
      Listener(
        address: $0, configuration: configuration.transport, guards: guards, services: services)
    }
  }

  /// Serves on all addresses until the task is cancelled or graceful shutdown begins; then lets
  /// sessions finish what is in flight. A second call throws.
  ///
  /// - Throws: `RuntimeError` if an address cannot be bound. Then none is served.
  public func run() async throws {
    defer { self.engine.compute.shutdown() }
    // Whoever asks or watches is told before connections are asked to end.
    try await withGracefulShutdownHandler {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for listener in self.listeners {
          group.addTask { try await listener.serve() }
        }
        // An address that fails ends the others, as leaving with its error cancels the group.
        while try await group.next() != nil {}
      }
    } onGracefulShutdown: {
      self.health.stopServing()
    }
  }

  /// Where the server listens, with the ports that the system chose. Waits until all addresses are
  /// bound.
  ///
  /// - Throws: `RuntimeError` if the server has stopped or an address could not be bound.
  public var listeningAddresses: [Address] {
    get async throws {
      var addresses: [Address] = []
      for listener in self.listeners { addresses.append(try await listener.boundAddress) }
      return addresses
    }
  }

  /// Sessions that stand now.
  public var sessionCount: Int { self.engine.sessions.count }

  /// How often each guard has closed a connection, or ended or reset a call.
  package var guardCounts: [Guard: Int] { self.ledger.counts }

  /// What the frame buffers do.
  public var poolStatistics: BufferPool.Statistics { self.engine.pool.statistics }
}
