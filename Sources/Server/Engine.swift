import Logging
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// What all sessions of a server share: the catalogue, the pool, the compute threads, the limits.
struct Engine: Sendable {
  let catalogue: FilterCatalogue
  let pool: BufferPool
  let compute: ComputePool
  let executor: PlanExecutor
  let plans = PlanCache()
  let costs = CostTable()
  let scheduler: FrameScheduler
  let sessions: SessionRegistry
  let resumeTokens: ResumeTokens
  let clock: SessionClock
  let tracing: FrameTracing
  let metrics: ServerMetrics
  /// When the server was made, on the sessions' clock.
  let started: Duration
  let history = StatusHistory()
  let logger: Logger

  /// How large a frame may be.
  let frameLimits: FrameLimits
  /// Frames of a session that may be without outcome.
  let framesInFlight: Int
  /// How long a filter of a user's own may take where frames have no budget.
  let customFilterTimeout: Duration
  /// Faults in a row after which a session ends.
  let maxConsecutiveErrors: Int
  /// All limits, as clients are told.
  let limits: Sidelight_V1_Limits

  init(
    configuration: ServerConfiguration, catalogue: FilterCatalogue, tracing: FrameTracing,
    metrics: ServerMetrics, clock: SessionClock, logger: Logger
  ) {
    self.catalogue = catalogue
    self.pool = BufferPool(maxIdleBytes: configuration.maxIdlePoolBytes)
    self.compute = ComputePool(threadCount: configuration.computeThreads)
    self.executor = PlanExecutor(pool: self.pool, compute: self.compute)
    self.scheduler = FrameScheduler(threads: self.compute.threadCount, now: clock.now)
    self.sessions = SessionRegistry(
      limits: SessionRegistry.Limits(
        total: configuration.maxSessions, perCaller: configuration.maxSessionsPerCaller,
        load: configuration.maxLoad),
      scheduler: self.scheduler)
    self.resumeTokens = ResumeTokens(
      keys: configuration.resumeKeys, lifetime: max(.seconds(10), configuration.resumeTokenLifetime)
    )
    self.customFilterTimeout = configuration.customFilterTimeout
    self.clock = clock
    self.tracing = tracing
    self.metrics = metrics
    self.started = clock.now()
    self.logger = logger
    self.frameLimits = FrameLimits(
      maxDimension: FrameLayout.maxDimension, maxPixels: configuration.maxFramePixels,
      maxBytes: configuration.transport.maxMessageBytes - Self.messageOverhead)
    self.framesInFlight = min(max(1, configuration.framesInFlight), 64)
    self.maxConsecutiveErrors = configuration.maxConsecutiveErrors
    self.limits = .with {
      $0.maxMessageBytes = UInt64(configuration.transport.maxMessageBytes)
      $0.maxDimension = UInt32(FrameLayout.maxDimension)
      $0.maxPixels = UInt64(configuration.maxFramePixels)
      $0.maxStages = UInt32(Pipeline.maxStages)
      $0.maxConsecutiveErrors = UInt32(configuration.maxConsecutiveErrors)
      $0.streamWindowBytes = UInt32(configuration.transport.streamWindowBytes)
      $0.http2FrameBytes = UInt32(configuration.transport.http2FrameBytes)
      $0.maxConcurrentStreams = UInt32(configuration.transport.maxConcurrentStreams)
      $0.maxSessions = UInt32(configuration.maxSessions)
    }
  }

  /// What a message may hold beside pixels: times, tags, a diagnostic.
  private static let messageOverhead = 8192

  /// What a pipeline comes to for frames of a geometry.
  ///
  /// - Parameter allowsReduced: Whether a cheaper variant is wanted too, where there is one.
  func program(
    for pipeline: ResolvedPipeline, _ geometry: FrameGeometry, allowsReduced: Bool
  ) -> Program {
    let reduced =
      allowsReduced ? self.catalogue.reduced(pipeline, for: geometry.size) : nil
    return Program(
      plan: self.plans.plan(for: pipeline, geometry),
      cost: self.costs.estimate(for: pipeline, geometry),
      isCustom: pipeline.activeFilters.contains { name in
        guard let description = self.catalogue.description(named: name) else { return false }
        return description.fidelity == .custom && description.category != .analysis
      },
      reduced: reduced.map { self.program(for: $0, geometry, allowsReduced: false) })
  }

  /// What stands in for a frame that may not be shown as it is.
  ///
  /// Blocks of an eighth of the short side, blurred into each other: no face or text survives.
  func blurBeyondRecognition(
    _ image: Sidelight_V1_Image, bands: Int
  ) async throws -> Sidelight_V1_Image {
    let frame = try image.makeFrame(limits: self.frameLimits, pool: self.pool)
    let plan = self.plans.plan(for: try Self.blur.get(), frame.geometry)
    return Sidelight_V1_Image(try await self.executor.run(plan, on: frame, bands: bands))
  }

  private static let blur = Result {
    try FilterCatalogue.builtIn.resolve([
      .filter("pixellate", ["scale": .length(Length(0.125, .shortSide))]),
      .filter("gaussianBlur", ["radius": .length(Length(0.0625, .shortSide))]),
    ])
  }
}
