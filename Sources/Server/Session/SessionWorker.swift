import GRPCCore
import GRPCProtobuf
import SidelightKernels
import SidelightWire

/// Takes frames out of the mailbox and filters them, one at a time, when the scheduler grants a
/// turn.
///
/// A frame stays in the mailbox until the turn has come: the worker always filters the session's
/// newest frame.
struct SessionWorker {
  private let session: Session
  private let runner: PlanRunner
  /// The cost of mixing the results of two pipelines.
  private let mixCost = CostEstimate()
  /// The cost of the session's last frames, which is assumed for pipelines without an estimate.
  private let lastCost = CostEstimate(priorWork: .milliseconds(2))
  private var engine: Engine { self.session.engine }
  private var resolver: FrameResolver { self.session.resolver }
  private var clock: SessionClock { self.session.engine.clock }

  /// The deadline assumed by the scheduler for a frame without a budget.
  static let defaultBudget = Duration.milliseconds(200)

  init(session: Session) {
    self.session = session
    self.runner = PlanRunner(session)
  }

  /// Runs until the mailbox is finished and empty, or the task is cancelled.
  func run() async {
    while let first = await self.session.mailbox.first() {
      await self.waitForCapacity()
      guard !Task.isCancelled else { return }
      if first.needsFiltering, !first.isCustom {
        await self.process(first) {
          // A newer frame that needs supervision, because of custom filters, may have displaced it.
          self.session.mailbox.take { !$0.isCustom }
        }
      } else if let frame = self.session.mailbox.take() {
        await self.serve(frame)
      }
    }
  }

  /// Gives a frame taken out of the mailbox its outcome.
  private func serve(_ frame: IncomingFrame) async {
    var next: IncomingFrame? = frame
    while let frame = next.take() {
      if frame.isCustom {
        next = await self.supervise(frame)
      } else {
        await self.process(frame) { frame }
      }
    }
  }

  /// Waits until another picture fits into the outcome queue, unless the drop policy allows it to
  /// displace one; and into the named outputs, if no frame may be dropped.
  private func waitForCapacity() async {
    guard self.session.options.dropPolicy != .newestWins else { return }
    await self.session.outcomes.waitForPictureCapacity()
    guard self.session.options.dropPolicy == .neverDrop else { return }
    for output in self.session.outputs { await output.mailbox.waitForRoom() }
  }

  // MARK: One frame

  /// Waits for a turn, then gives a frame its outcome.
  ///
  /// - Parameters:
  ///   - first: The frame whose deadline decides about the turn.
  ///   - started: Finished when the turn has come.
  ///   - take: Returns the frame to filter once the turn has come, if any.
  private func process(
    _ first: IncomingFrame, _ started: Completion? = nil, take: () -> IncomingFrame?
  ) async {
    guard let compiled = first.compiledPipeline, first.needsFiltering else {
      if let frame = take() { await self.passThrough(frame, started: self.clock.now()) }
      return
    }
    guard !self.isTooLate(first) else {
      guard let frame = take() else { return }
      // A newer frame may still be in time.
      guard self.isTooLate(frame) else { return await self.process(frame, started) { frame } }
      return self.refuse(frame)
    }
    do {
      let attempt = try await self.engine.processing.scheduler.withTurn(
        session: self.session.handle.number, deadline: self.turnDeadline(of: first),
        limit: first.isCustom ? self.turnLimit(for: first, compiled) : nil,
        cost: self.expectedWork(of: first, compiled) ?? self.lastCost.work,
        waitsOnComputeThread: true
      ) { bands, meter -> Attempt? in
        started?.finish()
        guard let frame = take() else { return nil }
        frame.span.leaveQueue()
        return await self.attempt(frame, bands, meter)
      }
      guard let attempt, !Task.isCancelled else { return }
      await self.conclude(attempt)
    } catch {
      // The turn was not granted. After a cancellation the frame needs no outcome.
      guard !Task.isCancelled, let frame = take() else { return }
      await self.fail(frame, error, started: self.clock.now())
    }
  }

  private func turnDeadline(of frame: IncomingFrame) -> Duration {
    frame.deadline ?? frame.received + Self.defaultBudget
  }

  /// Returns the cheaper variant of a pipeline while the session is short of time. A pipeline with
  /// scene stages is its own variant, and leaves out a part of the work on the scene.
  private func variant(
    of compiled: CompiledPipeline
  ) -> (compiled: CompiledPipeline, disposition: FrameDisposition) {
    guard self.session.quality.isReduced else { return (compiled, .filtered) }
    guard let cheaper = compiled.cheaperVariant else {
      return (compiled, compiled.plan.hasReducedScene ? .degraded : .filtered)
    }
    return (cheaper, .degraded)
  }

  /// Returns the expected work of a frame, including the earlier pipeline's work in a transition,
  /// or `nil` if it is unknown.
  private func expectedWork(of frame: IncomingFrame, _ compiled: CompiledPipeline) -> Duration? {
    let later = self.variant(of: compiled).compiled.cost.work
    guard let transition = frame.transition, !self.session.quality.isReduced,
      !self.session.handle.hasCutTransition(of: frame)
    else { return later }
    guard let later, let earlier = transition.earlier.cost.work else { return nil }
    return later + earlier
  }

  /// Returns whether the expected work, including encoding, would end after the frame's deadline.
  private func isTooLate(_ frame: IncomingFrame) -> Bool {
    guard let deadline = frame.deadline, let compiled = frame.compiledPipeline else { return false }
    let variant = self.variant(of: compiled).compiled
    let expected = variant.cost.expected ?? .zero
    let encoding = self.session.output.expectedEncoding(of: variant)
    return self.clock.now() + expected + encoding > deadline
  }

  /// Drops a frame that would be too late.
  private func refuse(_ frame: IncomingFrame) {
    if let compiled = frame.compiledPipeline, let deadline = frame.deadline,
      self.clock.now() <= deadline
    {
      self.variant(of: compiled).compiled.cost.recordRefusal()
      self.session.output.encodingCost.recordRefusal()
    }
    self.resolver.drop(frame, Drop(reason: .lateInPipeline, stage: .mailbox))
  }

  /// A frame whose turn came, and the result.
  private struct Attempt {
    var frame: IncomingFrame
    var started: Duration
    var outcome: Outcome

    enum Outcome {
      case finished(OutgoingPicture, FrameDisposition, slowest: String)
      case unchanged
      case tooLate
      case failed(any Error)
    }
  }

  private func attempt(
    _ frame: IncomingFrame, _ bands: Int, _ meter: WorkMeter
  ) async -> Attempt {
    var attempt = Attempt(frame: frame, started: self.clock.now(), outcome: .unchanged)
    let transition = self.transition(of: frame)
    guard let full = frame.compiledPipeline, !full.changesNothing || transition != nil else {
      return attempt
    }
    // The deadline may have passed during the wait for the turn.
    guard !self.isTooLate(frame) else {
      attempt.outcome = .tooLate
      return attempt
    }
    let (compiled, disposition) = self.variant(of: full)
    let observer = WorkerPassObserver(
      tracing: frame.span.passObserver, clock: self.clock, deadline: frame.deadline)
    do {
      let picture = try await self.filter(
        frame, compiled, transition, disposition, bands, observer, meter)
      attempt.outcome = .finished(picture, disposition, slowest: observer.slowest.name)
    } catch {
      attempt.outcome = .failed(error)
    }
    return attempt
  }

  private func filter(
    _ frame: IncomingFrame, _ compiled: CompiledPipeline, _ transition: TransitionWork?,
    _ disposition: FrameDisposition, _ bands: Int, _ observer: WorkerPassObserver,
    _ meter: WorkMeter
  ) async throws -> OutgoingPicture {
    let start = self.clock.now()
    try compiled.check(self.runner.limits)
    let picture: OutgoingPicture
    let report: TransitionWork.Report
    do {
      (picture, report) = try await self.runner.run(
        compiled, on: frame, in: transition, outcome: frame.outcome(disposition),
        isReduced: disposition == .degraded, bands: bands, observer: observer, meter: meter)
    } catch let expired as WorkerPassObserver.Expired {
      let report = expired.transition ?? TransitionWork.Report()
      let elapsed = self.clock.now() - start - report.elapsed
      frame.compiledPipeline?.cost.record(atLeast: elapsed - (meter.paused - report.paused))
      if let transition = expired.transition {
        self.session.handle.cutTransition(of: frame, transition.cut ?? .noTime)
      }
      throw expired
    }
    let elapsed = self.clock.now() - start - report.elapsed
    let work = elapsed + meter.beyondElapsed - report.beyondElapsed
    compiled.cost.record(elapsed - (meter.paused - report.paused), work: work)
    self.lastCost.record(work)
    if let cut = report.cut { self.session.handle.cutTransition(of: frame, cut) }
    return picture
  }

  /// Returns the work of a frame in a transition, or `nil` without a transition or enough time.
  private func transition(of frame: IncomingFrame) -> TransitionWork? {
    guard let transition = frame.transition,
      !self.session.handle.hasCutTransition(of: frame)
    else { return nil }
    guard !self.session.quality.isReduced else {
      self.session.handle.cutTransition(of: frame, .noTime)
      return nil
    }
    let isUnlimited = self.session.options.dropPolicy == .neverDrop || frame.message.mustProcess
    return TransitionWork(
      transition: transition, deadline: isUnlimited ? nil : self.turnDeadline(of: frame),
      start: self.clock.now(), mixCost: self.mixCost, clock: self.clock)
  }

  private func conclude(_ attempt: Attempt) async {
    let frame = attempt.frame
    switch attempt.outcome {
    case .finished(let picture, let disposition, let slowest):
      self.session.quality.recordFinished(
        fullCost: frame.compiledPipeline?.cost.expected, slowest: slowest)
      self.resolver.finish(frame, picture, disposition, started: attempt.started)
    case .unchanged:
      await self.passThrough(frame, started: attempt.started)
    case .tooLate:
      self.refuse(frame)
    case .failed(let expired as WorkerPassObserver.Expired):
      self.resolver.drop(frame, Drop(reason: .lateInPipeline, stage: expired.stage))
    case .failed(let error):
      await self.fail(frame, error, started: attempt.started)
    }
  }

  /// Sends a frame back unchanged, on a compute thread, because its picture may have to be copied.
  private func passThrough(
    _ frame: IncomingFrame, failure: GoogleRPCStatus? = nil, started: Duration
  ) async {
    await withTaskExecutorPreference(self.engine.processing.compute) {
      self.resolver.passThrough(frame, failure: failure, started: started)
    }
  }

  // MARK: Failures

  /// Ends a frame after an error: drops a file that cannot be decoded, and applies the failure
  /// policy to all others.
  private func fail(_ frame: IncomingFrame, _ error: any Error, started: Duration) async {
    let failure = error as? WorkerPassObserver.Failure
    frame.span.record(failure?.cause ?? error)
    if let unreadable = failure?.cause as? PictureCodec.Unreadable {
      frame.samples?.resolve(.unreadable)
      return self.resolver.drop(frame, undecodable: unreadable.violation(in: frame.message.image))
    }
    let status =
      failure.map { failure in
        GoogleRPCStatus.failedPass(
          failure.filters, of: frame.activePipeline.pipeline, failure.cause)
      }
      ?? (error as? FieldViolation)?.status ?? error as? GoogleRPCStatus ?? .failedFrame(error)
    await self.fail(
      frame, status, self.policy(for: frame, failed: failure?.filters), started: started)
  }

  /// Returns the failure policy of the stage that failed, else the session's policy. Under an
  /// override, and with a pipeline that protects, a frame never comes back unfiltered.
  private func policy(for frame: IncomingFrame, failed filters: [String]?) -> FailurePolicy {
    let pipeline = frame.activePipeline.pipeline
    let stated = filters.flatMap { pipeline.failurePolicy(ofPassWith: $0) }
    let policy = stated ?? self.session.options.failurePolicy
    return frame.activePipeline.isOverride || pipeline.protects ? max(policy, .blur) : policy
  }

  private func fail(
    _ frame: IncomingFrame, _ status: GoogleRPCStatus, _ policy: FailurePolicy, started: Duration
  ) async {
    switch policy {
    case .passThrough:
      await self.passThrough(frame, failure: status, started: started)
    case .drop:
      self.resolver.drop(
        frame, Drop(reason: .stageFailed, stage: .pipeline, diagnostic: status))
    case .blur:
      // The drop reports the pipeline's error, not the replacement's.
      guard let blurred = try? await self.blur(frame, status) else {
        return self.resolver.drop(
          frame, Drop(reason: .stageFailed, stage: .pipeline, diagnostic: status))
      }
      self.resolver.finish(frame, blurred, .degraded, started: started)
    }
  }

  private func blur(
    _ frame: IncomingFrame, _ status: GoogleRPCStatus
  ) async throws -> OutgoingPicture {
    try await self.engine.processing.scheduler.withTurn(
      session: self.session.handle.number, deadline: self.turnDeadline(of: frame)
    ) { bands, meter in
      let blur = try self.engine.compiler.compileBlur(
        for: frame.picture.form,
        as: frame.compiledPipeline?.output ?? self.session.output.shape)
      try blur.check(self.runner.limits)
      return try await self.runner.run(
        blur, on: frame, outcome: frame.outcome(.degraded, failure: status), hides: true,
        bands: bands, observer: NoPassObserver(), meter: meter
      ).picture
    }
  }

  // MARK: Custom filters

  /// Filters a frame using custom filters. If they take ten times the frame's budget, the failure
  /// policy applies to the frame and to all frames that arrive until the filters return.
  ///
  /// - Returns: A frame that was taken out of the mailbox when the filters had just returned, and
  ///   whose outcome is pending.
  private func supervise(_ frame: IncomingFrame) async -> IncomingFrame? {
    let job = self.engine.processing.detachedJobs.start { started in
      await self.process(frame, started) { frame }
    }
    // The session does not wait for the filters when it ends.
    defer { job.abandon() }
    // The wait for the turn does not count.
    await job.waitUntilStarted()
    let limit = self.timeout(of: frame)
    // The wait also ends with the session, which is not a timeout.
    guard await job.wait(atMost: limit, on: self.clock) == false, !Task.isCancelled else {
      return nil
    }
    let status = GoogleRPCStatus(
      code: .deadlineExceeded, message: "A custom filter has taken more than \(limit).")
    await self.fail(frame, status, self.policy(for: frame, failed: nil), started: self.clock.now())
    while !job.isDone, let next = await self.session.mailbox.next() {
      await self.waitForCapacity()
      guard !Task.isCancelled else { return nil }
      guard !job.isDone else { return next }
      guard next.needsFiltering else {
        await self.passThrough(next, started: self.clock.now())
        continue
      }
      await self.fail(next, status, self.policy(for: next, failed: nil), started: self.clock.now())
    }
    return nil
  }

  /// Returns the time after which the failure policy applies.
  private func timeout(of frame: IncomingFrame) -> Duration {
    frame.deadline.map { ($0 - frame.received) * 10 }
      ?? self.engine.admission.customFilterTimeout
  }

  /// Returns the time after which the scheduler grants the turn to others, while the filters
  /// continue.
  private func turnLimit(for frame: IncomingFrame, _ compiled: CompiledPipeline) -> Duration {
    let expected =
      (compiled.cost.expected ?? .zero) + (frame.transition?.earlier.cost.expected ?? .zero)
    return min(self.timeout(of: frame), max(FrameScheduler.unknownTurnLimit, expected * 4))
  }
}
