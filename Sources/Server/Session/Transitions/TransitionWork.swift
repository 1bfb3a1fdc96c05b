import SidelightKernels
import SidelightWire

/// The work of a frame in a transition, once the later pipeline has filtered it: the earlier
/// pipeline's result, and the mix. If time is short or the work fails, the frame keeps the later
/// pipeline's result.
struct TransitionWork: Sendable {
  /// The duration of the work, and its result.
  struct Report: Sendable {
    /// The reason why the frame shows only the later pipeline, if it does.
    var cut: TransitionEnd?
    var elapsed = Duration.zero
    /// The time of bands that ran in parallel, beyond the elapsed time.
    var beyondElapsed = Duration.zero
    /// The part of the elapsed time in which the work paused for other frames.
    var paused = Duration.zero
  }

  let transition: FrameTransition
  /// The time at which the frame should be done. `nil` disables the limit.
  let deadline: Duration?
  /// The time at which the work on the frame began.
  let start: Duration
  /// The cost of mixing, for all frames of the session.
  let mixCost: CostEstimate
  let clock: SessionClock

  /// Returns whether the work, and for files the encoding after it, is expected to end before the
  /// deadline.
  private func hasTime(with later: CompiledPipeline, _ meter: WorkMeter) -> Bool {
    guard let deadline else { return true }
    let now = self.clock.now()
    var expected =
      (self.transition.earlier.cost.expected ?? .zero)
      + (self.mixCost.expected ?? .zero)
    if later.delivery.coding.isCompressed, let total = later.cost.expected {
      // The work that is left of the later pipeline's time.
      expected += max(.zero, total - (now - self.start - meter.paused))
    }
    return now + expected <= deadline
  }

  /// Filters a frame using the earlier pipeline, and mixes the result into the later one's.
  ///
  /// - Parameters:
  ///   - later: The later pipeline's result. Unchanged if the report has a cut.
  ///   - pipeline: The later pipeline.
  ///   - run: Returns the earlier pipeline's result.
  /// - Throws: `CancellationError` if the task is cancelled.
  func mix(
    into later: consuming MutableFrame, of pipeline: CompiledPipeline, _ executor: PlanExecutor,
    bands: Int, observer: some PassObserver, meter: WorkMeter, run: () async throws -> Frame
  ) async throws -> Report {
    guard self.hasTime(with: pipeline, meter) else {
      self.mixCost.recordRefusal()
      return Report(cut: .noTime)
    }
    let cost = self.transition.earlier.cost
    let (start, beyond, paused) = (self.clock.now(), meter.beyondElapsed, meter.paused)
    var report = Report()
    do {
      let earlier = try await run()
      let (filtered, pausedBefore) = (self.clock.now(), meter.paused)
      cost.record(
        filtered - start - (pausedBefore - paused),
        work: filtered - start + meter.beyondElapsed - beyond)
      try await executor.mix(
        earlier, into: later, by: self.transition.mix, bands: bands, observer: observer,
        meter: meter)
      self.mixCost.record(self.clock.now() - filtered - (meter.paused - pausedBefore))
    } catch is WorkerPassObserver.Expired {
      cost.record(atLeast: self.clock.now() - start - (meter.paused - paused))
      report.cut = .noTime
    } catch {
      try Task.checkCancellation()
      report.cut = .stageFailed
    }
    report.elapsed = self.clock.now() - start
    report.beyondElapsed = meter.beyondElapsed - beyond
    report.paused = meter.paused - paused
    return report
  }
}
