import SidelightKernels
import Synchronization

/// The cost of a plan's frames as moving averages, shared by all sessions that run the plan.
///
/// It has two values: the elapsed time, which decides about deadlines, and the work of all threads
/// that shared a frame, which decides about load.
package final class CostEstimate: Sendable {
  private struct Averages {
    var elapsed: Duration?
    var work: Duration?
    /// The plan's prediction of the minimum elapsed time, until a frame is done.
    var prior: Duration?
  }

  private let averages: Mutex<Averages>
  private let priorWork: Duration?

  /// Creates an estimate without frames.
  ///
  /// - Parameters:
  ///   - priorWork: The work that the plan itself predicts, if any.
  ///   - threads: The maximum number of threads that share the work.
  package init(priorWork: Duration? = nil, threads: Int = 1) {
    self.priorWork = priorWork
    self.averages = Mutex(Averages(prior: priorWork.map { $0 / max(threads, 1) }))
  }

  /// The expected elapsed time of the next frame. Before the first frame is done, the minimum that
  /// the plan predicts, if any.
  package var expected: Duration? { self.averages.withLock { $0.elapsed ?? $0.prior } }

  /// The expected work of the next frame, in time of one thread. Before the first frame is done,
  /// the plan's prediction, if any.
  package var work: Duration? { self.averages.withLock { $0.work } ?? self.priorWork }

  /// Records a frame. Counts an outlier, for example after a stall of a filter or of the machine,
  /// as at most four times the average.
  ///
  /// - Parameter work: The work of all threads, or `nil` if one thread did it all.
  package func record(_ elapsed: Duration, work: Duration? = nil) {
    self.averages.withLock { averages in
      Self.record(elapsed, in: &averages.elapsed)
      Self.record(work ?? elapsed, in: &averages.work)
    }
  }

  /// Records a frame that was stopped after the elapsed time, and would have taken longer.
  package func record(atLeast elapsed: Duration) {
    self.averages.withLock { averages in
      averages.elapsed = max(averages.elapsed ?? .zero, elapsed)
      averages.work = max(averages.work ?? .zero, elapsed)
    }
  }

  /// Records a frame that was refused because it was expected to take too long. Lowers the estimate
  /// of the elapsed time a little to try a frame occasionally: otherwise a plan that was slow once
  /// would never run again. The estimate of work stays, because the demand does. A prediction
  /// without measurements is halved.
  package func recordRefusal() {
    self.averages.withLock { averages in
      averages.elapsed = averages.elapsed.map { $0 - $0 / 32 }
      averages.prior = averages.prior.map { $0 / 2 }
    }
  }

  private static func record(_ figure: Duration, in average: inout Duration?) {
    average = average.map { $0 + (min(figure, $0 * 4) - $0) / 8 } ?? figure
  }
}

/// The cost estimates by pipeline, input form and output form. Bounded: it is emptied when it is
/// full, as new estimates form quickly.
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

  /// Removes the estimates of pipelines that use an asset for which the condition holds.
  func removeEstimates(usingAssetWhere condition: (Asset) -> Bool) {
    self.estimates.withLock { estimates in
      estimates = estimates.filter { !$0.key.pipeline.usesAsset(where: condition) }
    }
  }

  /// Returns the estimate of a pipeline for pictures of a form.
  ///
  /// - Parameter make: Creates a missing estimate.
  func estimate(
    for pipeline: ResolvedPipeline, _ form: PictureForm, as output: OutputShape,
    _ make: () -> CostEstimate = { CostEstimate() }
  ) -> CostEstimate {
    let key = Key(pipeline: pipeline, form: form, output: output)
    return self.estimates.withLock { estimates in
      if let known = estimates[key] { return known }
      if estimates.count >= self.capacity { estimates.removeAll() }
      let estimate = make()
      estimates[key] = estimate
      return estimate
    }
  }
}
