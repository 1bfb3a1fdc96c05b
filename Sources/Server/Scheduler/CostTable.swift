import SidelightKernels
import Synchronization

/// What plans take, by pipeline and geometry. Bounded; when it is full it starts anew, since estimates
/// are soon made again.
final class CostTable: Sendable {
  private struct Key: Hashable {
    var pipeline: ResolvedPipeline
    var geometry: FrameGeometry
  }

  private let capacity: Int
  private let estimates = Mutex<[Key: CostEstimate]>([:])

  init(capacity: Int = 256) {
    self.capacity = capacity
  }

  /// The estimate of a plan.
  func estimate(for pipeline: ResolvedPipeline, _ geometry: FrameGeometry) -> CostEstimate {
    let key = Key(pipeline: pipeline, geometry: geometry)
    return self.estimates.withLock { estimates in
      if let known = estimates[key] { return known }
      if estimates.count >= self.capacity { estimates.removeAll() }
      let estimate = CostEstimate()
      estimates[key] = estimate
      return estimate
    }
  }
}
