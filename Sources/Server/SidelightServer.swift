import AsyncAlgorithms
import GRPCCore
import GRPCNIOTransportHTTP2Posix
public import Logging
public import Metrics
public import ServiceLifecycle
public import SidelightKernels
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
  private let engine: Engine
  private let listeners: [Listener]
  private let currentPhase = Mutex(ServerPhase.starting)

  /// Makes a server; nothing is bound before ``run()``.
  ///
  /// - Parameters:
  ///   - configuration: How it listens, and what it accepts.
  ///   - catalogue: The filters that clients may choose from.
  ///   - tracer: Where spans go. None: the one that `InstrumentationSystem` was bootstrapped with.
  ///   - metrics: Where metrics go. None: the one that `MetricsSystem` was bootstrapped with.
  ///   - logger: Where logs go.
  public convenience init(
    configuration: ServerConfiguration = ServerConfiguration(),
    catalogue: FilterCatalogue = .builtIn,
    tracer: (any Tracer)? = nil,
    metrics: (any MetricsFactory)? = nil,
    logger: Logger = Logger(label: "sidelight")
  ) {
    self.init(
      configuration: configuration, catalogue: catalogue, tracer: tracer, metrics: metrics,
      clock: .system, logger: logger)
  }

  package init(
    configuration: ServerConfiguration, catalogue: FilterCatalogue, tracer: (any Tracer)?,
    metrics: (any MetricsFactory)? = nil, clock: SessionClock, logger: Logger
  ) {
    let tracer = tracer ?? InstrumentationSystem.tracer
    let metrics = ServerMetrics(factory: metrics ?? MetricsSystem.factory)
    self.engine = Engine(
      configuration: configuration, catalogue: catalogue,
      tracing: FrameTracing(tracer: tracer, metrics: metrics, clock: clock), metrics: metrics,
      clock: clock, logger: logger)
    let interceptor = CallInterceptor(tracer: tracer, metrics: metrics, clock: clock)
    let services: [any RegistrableRPCService] = [
      FrameFilterService(engine: self.engine), SessionsService(engine: self.engine),
    ]
    self.listeners = configuration.addresses.map {
      Listener(
        address: $0, configuration: configuration.transport, services: services,
        interceptors: [interceptor])
    }
  }

  /// Serves on all addresses until the task is cancelled or graceful shutdown begins; then lets
  /// sessions finish what is in flight. A second call throws.
  ///
  /// - Throws: `RuntimeError` if an address cannot be bound. Then none is served.
  public func run() async throws {
    defer { self.engine.compute.shutdown() }
    try await withGracefulShutdownHandler {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await self.keepHouse() }
        // An address that fails ends the others, as leaving with its error cancels the group.
        try await self.serveAll()
        group.cancelAll()
      }
    } onGracefulShutdown: {
      self.enter(.draining)
    }
  }

  private func serveAll() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for listener in self.listeners {
        group.addTask { try await listener.serve() }
      }
      while try await group.next() != nil {}
    }
  }

  /// What is to be done beside serving, once all addresses are bound: once a second metrics and the
  /// history are brought up to date.
  private func keepHouse() async {
    guard (try? await self.listeningAddresses) != nil else { return }
    self.enter(.serving)
    for await _ in AsyncTimerSequence.repeating(every: .seconds(1)) { self.engine.noteSecond() }
  }

  private func enter(_ phase: ServerPhase) {
    self.currentPhase.withLock { current in
      if current != .draining { current = phase }
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

  /// Where the server stands. It takes sessions while it is ``ServerPhase/serving``.
  public var phase: ServerPhase { self.currentPhase.withLock { $0 } }

  /// What the server does at this moment.
  public var status: ServerStatus { self.engine.status(in: self.phase) }

  /// Brings metrics up to date. That is done once a second anyway; whoever asks for them now, and wants
  /// what clients have been told up to now, calls this before.
  public func updateMetrics() { self.engine.metrics.update(from: self.engine) }

  /// What the frame buffers do.
  public var poolStatistics: BufferPool.Statistics { self.engine.pool.statistics }
}
