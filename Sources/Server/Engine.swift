import Logging
import SidelightCodecs
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf

/// What all sessions of a server share: the catalogue, the pool, the compute threads, the limits.
struct Engine: Sendable {
  /// The filters, with the assets that the server itself provides.
  let catalogue: FilterCatalogue
  /// What callers have put.
  let assets: AssetLibrary
  let pool: BufferPool
  let compute: ComputePool
  let executor: PlanExecutor
  let codec: PictureCodec
  let plans: PlanCache
  /// What the plans of a session's last frames may hold together, as one may.
  let maxPlanBytes: Int
  let costs = CostTable()
  let scheduler: FrameScheduler
  let openEnded: OpenEndedWork
  let sessions: SessionRegistry
  /// Operators' decisions, which outlive the sessions that they were made for.
  let overrides = OverrideStore()
  let resumeTokens: ResumeTokens
  let quotas: QuotaDesk
  /// The memory that still images may take, while they wait too.
  let stills: StillBudget
  /// The counts of connections.
  let connections: ConnectionLedger
  /// `nil`: no shared memory is offered.
  let rings: SharedMemoryBroker?
  let clock: SessionClock
  let tracing: FrameTracing
  let metrics: ServerMetrics
  /// When the server was made, on the sessions' clock.
  let started: Duration
  let history = StatusHistory()
  let logger: Logger

  /// How large a frame may be.
  let frameLimits: FrameLimits
  /// How long sessions may take to finish when the server shuts down.
  let drainTimeout: Duration
  /// The limits that can be changed while sessions stand.
  private let sessionLimits: Adjustable<SessionLimits>
  /// The other ones, as clients are told.
  private let fixedLimits: Sidelight_V1_Limits

  init(
    configuration: ServerConfiguration, catalogue: FilterCatalogue, tracing: FrameTracing,
    metrics: ServerMetrics, clock: SessionClock, logger: Logger
  ) {
    self.catalogue = catalogue
    self.pool = BufferPool(maxIdleBytes: configuration.maxIdlePoolBytes)
    self.compute = ComputePool(
      threadCount: configuration.computeThreads, niceness: configuration.computeNiceness)
    self.executor = PlanExecutor(pool: self.pool, compute: self.compute)
    self.codec = PictureCodec(
      pool: self.pool,
      limits: ImageLimits(
        maxPixels: configuration.maxFramePixels, maxDimension: FrameLayout.maxDimension),
      threads: self.compute.threadCount)
    self.plans = PlanCache(
      maxBytes: configuration.maxTotalPlanBytes / 4, maxPlanBytes: configuration.maxPlanBytes,
      maxLiveBytes: configuration.maxTotalPlanBytes)
    self.maxPlanBytes = configuration.maxPlanBytes
    self.assets = AssetLibrary(
      configuration.assets, plans: self.plans, costs: self.costs, clock: clock)
    self.scheduler = FrameScheduler(compute: self.compute, clock: clock)
    self.openEnded = OpenEndedWork(compute: self.compute)
    self.sessions = SessionRegistry(
      limits: SessionLimits(configuration).admission, scheduler: self.scheduler)
    self.resumeTokens = ResumeTokens(
      keys: configuration.resumeKeys, lifetime: Self.tokenLifetime(configuration))
    self.quotas = QuotaDesk(configuration.quotas, clock: clock)
    self.stills = StillBudget(
      limit: configuration.guards.maxUnfinishedBytes,
      limitPerCaller: configuration.guards.maxUnfinishedBytesPerAddress)
    self.rings = configuration.sharedMemory.flatMap {
      SharedMemoryConfiguration.isSupported ? SharedMemoryBroker($0, clock: clock) : nil
    }
    self.connections = ConnectionLedger(logger: logger)
    self.drainTimeout = configuration.drainTimeout
    self.clock = clock
    self.tracing = tracing
    self.metrics = metrics
    self.started = clock.now()
    self.logger = logger
    self.frameLimits = FrameLimits(
      maxDimension: FrameLayout.maxDimension, maxPixels: configuration.maxFramePixels,
      maxBytes: configuration.transport.maxMessageBytes - Self.messageOverhead)
    self.sessionLimits = Adjustable(SessionLimits(configuration))
    self.fixedLimits = .with {
      $0.maxMessageBytes = UInt64(configuration.transport.maxMessageBytes)
      $0.maxDimension = UInt32(FrameLayout.maxDimension)
      $0.maxPixels = UInt64(configuration.maxFramePixels)
      $0.addContractLimits()
      $0.streamWindowBytes = UInt32(configuration.transport.streamWindowBytes)
      $0.http2FrameBytes = UInt32(configuration.transport.http2FrameBytes)
      $0.maxConcurrentStreams = UInt32(configuration.transport.maxConcurrentStreams)
    }
  }

  /// Frames of a session that may be without outcome; a session keeps what it was granted.
  var framesInFlight: Int { self.sessionLimits.value.framesInFlight }
  /// How long a filter of a user's own may take where frames have no budget, as it stands.
  var customFilterTimeout: Duration { self.sessionLimits.value.customFilterTimeout }
  /// Faults in a row after which a session ends, as it stands.
  var maxConsecutiveErrors: Int { self.sessionLimits.value.maxConsecutiveErrors }

  /// All limits, as clients are told.
  var limits: Sidelight_V1_Limits {
    let sessions = self.sessionLimits.value
    var limits = self.fixedLimits
    limits.maxConsecutiveErrors = UInt32(clamping: sessions.maxConsecutiveErrors)
    limits.maxSessions = UInt32(clamping: sessions.admission.total)
    return limits
  }

  /// Takes over what can be changed while sessions stand.
  func reconfigure(_ configuration: ServerConfiguration) {
    let limits = SessionLimits(configuration)
    self.sessionLimits.value = limits
    self.sessions.adopt(limits.admission)
    self.quotas.quotas = configuration.quotas
    self.resumeTokens.adopt(
      keys: configuration.resumeKeys, lifetime: Self.tokenLifetime(configuration))
  }

  private static func tokenLifetime(_ configuration: ServerConfiguration) -> Duration {
    max(.seconds(10), configuration.resumeTokenLifetime)
  }

  /// What a message may hold beside pixels: times, tags, a diagnostic.
  private static let messageOverhead = 8192

  /// The filters, with the assets that a caller's pipelines may name.
  func catalogue(for caller: Caller) -> FilterCatalogue {
    var catalogue = self.catalogue
    catalogue.assets = CallerAssets(
      provided: self.catalogue.assets, library: self.assets, owner: caller.name)
    return catalogue
  }

  /// What a pipeline comes to for pictures of a form.
  ///
  /// - Parameters:
  ///   - output: What the results are to be.
  ///   - allowsReduced: Whether a cheaper variant is wanted too, where there is one.
  func program(
    for pipeline: ResolvedPipeline, _ form: PictureForm, as output: OutputShape,
    allowsReduced: Bool
  ) -> Program {
    let reduced =
      allowsReduced ? self.catalogue.reduced(pipeline, for: form.geometry.size) : nil
    let delivery = output.delivery(of: form)
    let shaped = pipeline.shaped(delivery.shape)
    let plan = self.plans.plan(for: shaped, form.geometry, as: delivery.encoding)
    return Program(
      form: form, plan: plan, output: output,
      changesNothing: delivery.changesNothing(in: form) {
        self.plans.plan(for: shaped, form.geometry)
      },
      cost: self.costs.estimate(for: pipeline, form, as: output),
      isCustom: self.isCustom(pipeline),
      reduced: reduced.map { self.program(for: $0, form, as: output, allowsReduced: false) })
  }

  /// Whether filters of a user's own are at work in a pipeline: they may not come back.
  func isCustom(_ pipeline: ResolvedPipeline) -> Bool {
    pipeline.activeFilters.contains { name in
      guard let description = self.catalogue.description(named: name) else { return false }
      return description.fidelity == .custom && description.category != .analysis
    }
  }

  /// The same, on the task's preferred executor.
  @concurrent
  func compile(
    _ pipeline: ResolvedPipeline, _ form: PictureForm, as output: OutputShape, allowsReduced: Bool
  ) async -> Program {
    self.program(for: pipeline, form, as: output, allowsReduced: allowsReduced)
  }

  /// What stands in for a frame that may not be shown as it is.
  ///
  /// Blocks of an eighth of the short side, blurred into each other: no face or text survives.
  func blurBeyondRecognition(_ form: PictureForm, as output: OutputShape) throws -> Program {
    self.program(for: try Self.blur.get(), form, as: output, allowsReduced: false)
  }

  private static let blur = Result {
    try FilterCatalogue.builtIn.resolve([
      .filter("pixellate", ["scale": .length(Length(0.125, .shortSide))]),
      .filter("gaussianBlur", ["radius": .length(Length(0.0625, .shortSide))]),
    ])
  }
}
