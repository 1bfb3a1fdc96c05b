import SidelightKernels
import SidelightWire

/// The mix of a frame's result with the result of the transition's earlier pipeline.
struct FrameTransition: Sendable {
  let earlier: CompiledPipeline
  let mix: PictureMix
}

/// The pipeline of a frame, compiled, with its part in a transition.
struct FramePipeline: Sendable {
  var active: ActivePipeline
  var compiled: CompiledPipeline
  /// The mix with another result, if any.
  var transition: FrameTransition?
  /// The reason why the transition is over with this frame, if it is.
  var cut: TransitionEnd?
}

extension CompiledPipelineCache {
  /// Returns the compiled pipeline for a frame, and in a transition the work of the frame in it.
  ///
  /// - Parameters:
  ///   - budget: The time that the frame has; `nil` disables the limit.
  ///   - isReduced: Whether the session is short of time.
  /// - Throws: `CancellationError`.
  mutating func framePipeline(
    for active: ActivePipeline, _ form: PictureForm, budget: Duration?, isReduced: Bool
  ) async throws -> FramePipeline {
    if let moment = active.transition, moment.kind == .hold {
      // The frame does not need the later pipeline.
      let earlier = try await self.compiledPipeline(
        earlier: moment.earlier, than: active.revision, form)
      var result = FramePipeline(active: active, compiled: earlier)
      result.show(moment.earlier, earlier)
      return result
    }
    let later = try await self.compiledPipeline(for: active, form)
    var result = FramePipeline(active: active, compiled: later)
    guard let moment = active.transition else { return result }
    guard !isReduced else {
      result.cut = .noTime
      return result
    }
    let earlier = try await self.compiledPipeline(
      earlier: moment.earlier, than: active.revision, form)
    if let between = moment.between, earlier.isSmall, later.isSmall {
      let compiled = await self.compiledPipeline(
        between, from: earlier, to: later, active.revision)
      if compiled.plan.refusal == nil, compiled.plan.output == later.plan.output {
        result.show(between, compiled)
        return result
      }
    }
    result.cut = earlier.obstacle(toMixingWith: later, maxPlanBytes: self.maxPlanBytes)
    guard result.cut == nil else { return result }
    if moment.progress == 0 {
      // The earlier pipeline alone: the frame must not be lost if it takes longer than the later.
      guard earlier.fits(into: budget) || !later.fits(into: budget) else {
        result.cut = .noTime
        return result
      }
      result.show(moment.earlier, earlier)
    } else {
      var style = PipelineTransition.Style.fade
      if case .mix(let requested) = moment.kind { style = requested }
      result.transition = FrameTransition(
        earlier: earlier, mix: PictureMix(style: style, progress: moment.progress))
    }
    return result
  }
}

extension FramePipeline {
  /// Filters the frame using another pipeline than its revision's.
  fileprivate mutating func show(_ pipeline: ResolvedPipeline, _ compiled: CompiledPipeline) {
    self.active.pipeline = pipeline
    self.compiled = compiled
  }
}

extension CompiledPipeline {
  /// Whether the pipeline can be compiled per frame: its plan holds neither pictures nor large
  /// fields, which takes microseconds.
  fileprivate var isSmall: Bool {
    self.plan.refusal == nil && self.plan.byteCost < PlanCache.smallPlanBytes
      && self.plan.sceneStages.isEmpty
  }

  /// Whether the expected time of a frame is within a budget.
  fileprivate func fits(into budget: Duration?) -> Bool {
    guard let budget else { return true }
    return self.cost.expected ?? .zero <= budget
  }

  /// Returns the reason why the results of two pipelines cannot be mixed, if any.
  fileprivate func obstacle(
    toMixingWith later: CompiledPipeline, maxPlanBytes: Int
  ) -> TransitionEnd? {
    guard self.plan.refusal == nil, later.plan.refusal == nil,
      self.byteCost + later.byteCost <= maxPlanBytes
    else { return .memory }
    guard self.plan.output == later.plan.output else { return .outputDiffers }
    return self.plan.allowsMixing && later.plan.allowsMixing ? nil : .scene
  }
}

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
