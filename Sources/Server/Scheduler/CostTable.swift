import SidelightKernels
import Synchronization

/// What a plan's frames take, as moving averages; shared by all sessions that run the plan.
///
/// Two figures: the time that passes, by which deadlines are judged, and the work, which is what all the
/// threads spent that shared a frame, and by which load is.
package final class CostEstimate: Sendable {
  private struct Averages {
    var elapsed: Duration?
    var work: Duration?
  }

  private let averages = Mutex(Averages())

  package init() {}

  /// The time that the next frame is expected to take; `nil` before the first is done.
  package var expected: Duration? { self.averages.withLock { $0.elapsed } }

  /// What the next frame is expected to cost one thread; `nil` before the first is done.
  package var work: Duration? { self.averages.withLock { $0.work } }

  /// A frame took so long, and cost all threads together so much; `nil`: one did it all. One that took
  /// many times what is usual, because somebody's filter stuck or the machine did, counts for no more
  /// than four times as much.
  package func record(_ elapsed: Duration, work: Duration? = nil) {
    self.averages.withLock { averages in
      Self.record(elapsed, in: &averages.elapsed)
      Self.record(work ?? elapsed, in: &averages.work)
    }
  }

  /// A frame was given up after so long; in full it would have taken more.
  package func record(atLeast elapsed: Duration) {
    self.averages.withLock { averages in
      averages.elapsed = max(averages.elapsed ?? .zero, elapsed)
      averages.work = max(averages.work ?? .zero, elapsed)
    }
  }

  /// A frame was not computed because it was expected to take too long. The estimate of time sinks a
  /// little, so that now and then one is tried: else a plan that was slow once would never run again.
  /// That of work stays: what is asked for is no less for being refused.
  package func recordRefusal() {
    self.averages.withLock { averages in
      averages.elapsed = averages.elapsed.map { $0 - $0 / 32 }
    }
  }

  private static func record(_ figure: Duration, in average: inout Duration?) {
    average = average.map { $0 + (min(figure, $0 * 4) - $0) / 8 } ?? figure
  }
}

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
