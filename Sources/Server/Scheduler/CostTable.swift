import SidelightKernels
import Synchronization

/// What frames take, by pipeline and what goes in and comes out. Bounded; when it is full it starts anew, since estimates
/// are soon made again.
final class CostTable: Sendable {
  private struct Key: Hashable {
    var pipeline: ResolvedPipeline
    var form: PictureForm
    var output: OutputShape
  }

  private let capacity: Int
  private let estimates = Mutex<[Key: CostEstimate]>([:])

  init(capacity: Int = 256) {
    self.capacity = capacity
  }

  /// Lets the estimates go of pipelines that use an asset that the condition holds for.
  func removeEstimates(usingAssetWhere condition: (Asset) -> Bool) {
    self.estimates.withLock { estimates in
      estimates = estimates.filter { !$0.key.pipeline.usesAsset(where: condition) }
    }
  }

  /// The estimate of a pipeline for pictures of a form.
  func estimate(
    for pipeline: ResolvedPipeline, _ form: PictureForm, as output: OutputShape
  ) -> CostEstimate {
    let key = Key(pipeline: pipeline, form: form, output: output)
    return self.estimates.withLock { estimates in
      if let known = estimates[key] { return known }
      if estimates.count >= self.capacity { estimates.removeAll() }
      let estimate = CostEstimate()
      estimates[key] = estimate
      return estimate
    }
  }
}
