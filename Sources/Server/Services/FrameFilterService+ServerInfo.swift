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
      $0.features = Self.features
      $0.instructionSet = InstructionSet.current.rawValue
      $0.load.sessions = UInt32(clamping: self.engine.sessions.current)
      $0.load.computeThreads = UInt32(clamping: self.engine.compute.threadCount)
      $0.load.poolBytesInUse = UInt64(clamping: pool.bytesInUse)
      $0.load.poolBytesIdle = UInt64(clamping: pool.bytesIdle)
      $0.load.poolHitRate = requests == 0 ? 0 : Double(pool.hits) / Double(requests)
    }
    return ServerResponse(message: response)
  }

  /// Optional behaviours of the contract that this build has.
  private static let features = [
    "apply.jpeg", "apply.png", "process.stats_interval", "process.unmodified",
  ]
}
