import GRPCCore
import SidelightKernels
import SidelightWire
import SwiftProtobuf

extension FrameFilterService {
  func getServerInfo(
    request: ServerRequest<Sidelight_V1_GetServerInfoRequest>, context: ServerContext
  ) async throws -> ServerResponse<Sidelight_V1_GetServerInfoResponse> {
    let pool = self.engine.pool.statistics
    let requests = pool.hits + pool.misses
    let response = Sidelight_V1_GetServerInfoResponse.with {
      $0.version = SidelightVersion.current
      $0.limits = self.engine.limits
      $0.features = Self.features + (self.engine.rings == nil ? [] : ["shared_memory"])
      $0.instructionSet = InstructionSet.current.rawValue
      $0.transport = Sidelight_V1_TransportSettings(self.configuration)
      $0.load.sessions = UInt32(clamping: self.engine.sessions.count)
      $0.load.computeThreads = UInt32(clamping: self.engine.compute.threadCount)
      $0.load.poolBytesInUse = UInt64(clamping: pool.bytesInUse)
      $0.load.poolBytesIdle = UInt64(clamping: pool.bytesIdle)
      $0.load.schedulerLoad = self.engine.scheduler.load
      $0.load.frames = Sidelight_V1_Stats(self.engine.sessions.totals, isFinal: false)
      $0.load.sharedMemoryBytes = UInt64(clamping: self.engine.rings?.bytesTaken ?? 0)
      let assets = self.engine.assets.contents
      $0.load.assets = UInt32(clamping: assets.count)
      $0.load.assetBytes = UInt64(clamping: assets.bytes)
      $0.assetLimits = Sidelight_V1_AssetLimits(self.configuration.assets)
      $0.load.poolHitRate = requests == 0 ? 0 : Double(pool.hits) / Double(requests)
    }
    return ServerResponse(message: response)
  }

  /// Optional behaviours of the contract that this build has.
  private static let features = [
    "apply.jpeg", "apply.png", "assets", "output", "process.activate", "process.allow_degraded",
    "process.analysis",
    "process.analysis_only",
    "process.budget",
    "process.failure_policy", "process.jpeg", "process.max_fps", "process.output_window",
    "process.pause",
    "process.resume_token", "process.stats_interval", "process.unmodified", "process.update",
    "sessions",
  ]
}
