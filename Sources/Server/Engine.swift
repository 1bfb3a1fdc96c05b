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
  let sessions: SessionGauge
  let clock: SessionClock
  let tracing: FrameTracing
  let logger: Logger

  /// How large a frame may be.
  let frameLimits: FrameLimits
  /// Frames of a session that may be without outcome.
  let framesInFlight: Int
  /// Faults in a row after which a session ends.
  let maxConsecutiveErrors: Int
  /// All limits, as clients are told.
  let limits: Sidelight_V1_Limits

  init(
    configuration: ServerConfiguration, catalogue: FilterCatalogue, tracing: FrameTracing,
    clock: SessionClock, logger: Logger
  ) {
    self.catalogue = catalogue
    self.pool = BufferPool(maxIdleBytes: configuration.maxIdlePoolBytes)
    self.compute = ComputePool(threadCount: configuration.computeThreads)
    self.executor = PlanExecutor(pool: self.pool, compute: self.compute)
    self.sessions = SessionGauge(limit: configuration.maxSessions)
    self.clock = clock
    self.tracing = tracing
    self.logger = logger
    self.frameLimits = FrameLimits(
      maxDimension: FrameLayout.maxDimension, maxPixels: configuration.maxFramePixels)
    self.framesInFlight = configuration.framesInFlight
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
}
