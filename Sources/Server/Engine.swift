import Logging
import SidelightCodecs
import SidelightKernels
import SidelightWire

/// The services shared by all sessions and calls of a server.
struct Engine: Sendable {
  let compiler: PipelineCompiler
  /// Runs compiled pipelines.
  let processing: FrameProcessing
  /// Decides which filters callers may use.
  let permissions: PermissionStore
  /// Decides which sessions, frames and images are accepted.
  let admission: Admission
  /// Carries the state of sessions over to new connections.
  let resumption: Resumption
  /// Reports the server's activity.
  let observability: Observability
  /// The assets uploaded by callers.
  let assets: AssetLibrary
  /// Grants shared memory. `nil` disables it.
  let rings: SharedMemoryBroker?
  /// The loads of the fleet's servers. `nil` without a fleet.
  let peers: PeerLoads?
  /// The addresses at which sessions continue after a shutdown, by the session's number.
  let drainTargets = LockedValue<[UInt64: String]>([:])
  let clock: SessionClock
  /// The time that sessions have to finish when the server shuts down.
  let drainTimeout: Duration

  init(
    configuration: ServerConfiguration, catalogue: FilterCatalogue, tracing: FrameTracing,
    metrics: ServerMetrics, clock: SessionClock, logger: Logger
  ) {
    self.compiler = PipelineCompiler(configuration, catalogue: catalogue)
    self.processing = FrameProcessing(configuration, clock: clock)
    self.permissions = PermissionStore(configuration.permissions)
    self.admission = Admission(configuration, scheduler: self.processing.scheduler, clock: clock)
    self.resumption = Resumption(configuration, clock: clock)
    self.observability = Observability(
      tracing: tracing, metrics: metrics, logger: logger, started: clock.now())
    self.assets = AssetLibrary(
      configuration.assets, plans: self.compiler.plans, costs: self.compiler.costs, clock: clock)
    self.rings = configuration.sharedMemory.flatMap {
      SharedMemoryConfiguration.isSupported ? SharedMemoryBroker($0, clock: clock) : nil
    }
    let peers = configuration.placement.peers
    self.peers =
      peers.isEmpty ? nil : PeerLoads(peers, tls: configuration.tls, clock: clock, logger: logger)
    self.clock = clock
    self.drainTimeout = configuration.drainTimeout
  }

  /// Applies the settings that can change while sessions are open.
  func reconfigure(_ configuration: ServerConfiguration) {
    self.admission.reconfigure(configuration)
    self.resumption.reconfigure(configuration)
    self.permissions.update(configuration.permissions)
  }

  /// Returns the filters with the permissions of a caller, and the assets that its pipelines may
  /// name.
  ///
  /// - Parameter allowedFilters: The only filters of a session; `nil` permits all.
  func catalogue(
    for caller: Caller, allowedFilters: FilterNameList? = nil
  ) -> FilterCatalogue {
    var catalogue = self.permittedCatalogue(for: caller)
    catalogue.assets = CallerAssets(
      provided: self.compiler.catalogue.assets, library: self.assets, owner: caller.identity)
    catalogue.permissions = CallerPermissions(
      store: self.permissions, caller: caller, allowedFilters: allowedFilters)
    return catalogue
  }

  /// Returns the filters with the permissions of a caller, and the server's assets only.
  func permittedCatalogue(for caller: Caller) -> FilterCatalogue {
    var catalogue = self.compiler.catalogue
    catalogue.permissions = CallerPermissions(
      store: self.permissions, caller: caller, allowedFilters: nil)
    return catalogue
  }
}

/// The threads that filter, their memory, and the scheduler that shares them out.
struct FrameProcessing: Sendable {
  /// The frame buffers.
  let pool: BufferPool
  /// The threads that filter.
  let compute: ComputePool
  /// Runs plans on the threads.
  let executor: PlanExecutor
  /// Decodes and encodes image files.
  let codec: PictureCodec
  /// Decides which session's frame is filtered next.
  let scheduler: FrameScheduler
  /// Runs custom filters and analyses, which may not return.
  let detachedJobs: DetachedJobRunner

  init(_ configuration: ServerConfiguration, clock: SessionClock) {
    self.pool = BufferPool(maxIdleBytes: configuration.maxIdlePoolBytes)
    self.compute = ComputePool(
      threadCount: configuration.computeThreads, niceness: configuration.computeNiceness)
    self.executor = PlanExecutor(pool: self.pool, compute: self.compute)
    self.codec = PictureCodec(
      pool: self.pool,
      limits: ImageLimits(
        maxPixels: configuration.maxFramePixels, maxDimension: FrameLayout.maxDimension),
      threads: self.compute.threadCount)
    self.scheduler = FrameScheduler(compute: self.compute, clock: clock)
    self.detachedJobs = DetachedJobRunner()
  }
}

/// The state that outlives a connection: resume tokens, which clients keep, and operators'
/// overrides, which the server keeps.
struct Resumption: Sendable {
  /// Signs and verifies resume tokens.
  let tokens: ResumeTokens
  /// The operators' overrides, which outlive the sessions that they apply to.
  let overrides: OverrideStore

  init(_ configuration: ServerConfiguration, clock: SessionClock) {
    self.overrides = OverrideStore(wallNow: clock.nanosecondsSince1970)
    self.tokens = ResumeTokens(
      keys: configuration.resumeKeys, lifetime: Self.tokenLifetime(configuration))
  }

  /// Applies the settings that can change while sessions are open.
  func reconfigure(_ configuration: ServerConfiguration) {
    self.tokens.update(
      keys: configuration.resumeKeys, lifetime: Self.tokenLifetime(configuration))
  }

  private static func tokenLifetime(_ configuration: ServerConfiguration) -> Duration {
    max(.seconds(10), configuration.resumeTokenLifetime)
  }
}
