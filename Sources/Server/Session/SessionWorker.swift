import GRPCCore
import GRPCProtobuf
import SidelightCodecs
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// Takes frames out of the mailbox and filters them, one at a time, when the scheduler says so.
///
/// A frame stays in the mailbox until its turn has come, so that what is computed is never older than
/// what the session could have had.
struct SessionWorker {
  let session: Session

  var engine: Engine { self.session.engine }
  var clock: SessionClock { self.session.engine.clock }

  /// Frames without a budget of their own stand behind those that have less time than this.
  static let patience = Duration.milliseconds(200)

  /// Runs until the mailbox is finished and empty, or the task is cancelled.
  func run() async {
    while let first = await self.session.mailbox.first() {
      await self.waitForCapacity()
      guard !Task.isCancelled else { return }
      if first.compiledPipeline?.isCustom == false, first.compiledPipeline?.changesNothing == false {
        await self.process(first) {
          // One that has to be watched has taken its place, perhaps.
          self.session.mailbox.take { $0.compiledPipeline?.isCustom != true }
        }
      } else if let frame = self.session.mailbox.take() {
        await self.serve(frame)
      }
      // With the next frame at hand and a turn free this task would go on without ever leaving its
      // thread, and what else waits for one, such as the first pipeline of a new session, with it.
      await Task.yield()
    }
  }

  /// Gives a frame that was taken out its outcome.
  func serve(_ frame: IncomingFrame) async {
    var next: IncomingFrame? = frame
    while let frame = next.take() {
      if frame.compiledPipeline?.isCustom == true {
        next = await self.supervise(frame)
      } else {
        await self.process(frame) { frame }
      }
    }
  }

  /// Waits until there is room for another picture, where none may be lost for want of it.
  func waitForCapacity() async {
    guard self.session.options.dropPolicy != .newestWins else { return }
    await self.session.outcomes.waitForPictureCapacity()
  }

  // MARK: One frame

  /// Gives a frame its outcome: the first of those that wait, or another in its place.
  ///
  /// - Parameters:
  ///   - first: Whose turn is waited for.
  ///   - begin: Is finished when the turn has come.
  ///   - take: Says which frame it is, once that is so; `nil`: none.
  func process(
    _ first: IncomingFrame, _ begin: Completion? = nil, take: () -> IncomingFrame?
  ) async {
    guard let compiledPipeline = first.compiledPipeline, !compiledPipeline.changesNothing else {
      if let frame = take() { self.passThrough(frame, started: self.clock.now()) }
      return
    }
    guard !self.isTooLate(first) else {
      guard let frame = take() else { return }
      // A newer one may still be in time.
      guard self.isTooLate(frame) else { return await self.process(frame, begin) { frame } }
      return self.refuse(frame)
    }
    do {
      let attempt = try await self.engine.scheduler.withTurn(
        session: self.session.handle.number,
        deadline: first.deadline ?? first.received + Self.patience,
        limit: compiledPipeline.isCustom ? self.turnLimit(for: first, compiledPipeline) : nil
      ) { bands, meter -> Attempt? in
        begin?.finish()
        guard let frame = take() else { return nil }
        frame.span.leaveQueue()
        return await self.attempt(frame, bands, meter)
      }
      guard let attempt, !Task.isCancelled else { return }
      await self.conclude(attempt)
    } catch {
      // No turn comes. When the task is cancelled, nobody waits for the frame any more.
      guard !Task.isCancelled, let frame = take() else { return }
      await self.fail(frame, error, started: self.clock.now())
    }
  }

  /// What is made of a frame now: less work where there is no time for all of it.
  private func variant(of compiledPipeline: CompiledPipeline) -> (compiledPipeline: CompiledPipeline, disposition: Disposition) {
    guard self.session.quality.isReduced, let cheaper = compiledPipeline.cheaperVariant else {
      return (compiledPipeline, .filtered)
    }
    return (cheaper, .degraded)
  }

  /// Whether there is not the time for the work that is expected.
  private func isTooLate(_ frame: IncomingFrame) -> Bool {
    guard let deadline = frame.deadline, let compiledPipeline = frame.compiledPipeline else { return false }
    let expected = self.variant(of: compiledPipeline).compiledPipeline.cost.expected ?? .zero
    return self.clock.now() + expected > deadline
  }

  /// Drops a frame for which there is no time.
  private func refuse(_ frame: IncomingFrame) {
    if let compiledPipeline = frame.compiledPipeline, let deadline = frame.deadline, self.clock.now() <= deadline {
      self.variant(of: compiledPipeline).compiledPipeline.cost.recordRefusal()
    }
    self.drop(frame, Drop(reason: .lateInPipeline, stage: .mailbox))
  }

  /// A frame whose turn came, and what that led to.
  private struct Attempt {
    var frame: IncomingFrame
    var started: Duration
    var ending: Outcome

    enum Outcome {
      case finished(OutgoingPicture, Disposition, slowest: String)
      case unchanged
      case tooLate
      case failed(any Error)
    }
  }

  private func attempt(
    _ frame: IncomingFrame, _ bands: Int, _ meter: WorkMeter
  ) async -> Attempt {
    var attempt = Attempt(frame: frame, started: self.clock.now(), ending: .unchanged)
    guard let full = frame.compiledPipeline, !full.changesNothing else { return attempt }
    // Its turn may have been long in coming.
    guard !self.isTooLate(frame) else {
      attempt.ending = .tooLate
      return attempt
    }
    let (compiledPipeline, disposition) = self.variant(of: full)
    let observer = WorkerPassObserver(
      tracing: frame.span.passObserver, clock: self.clock, deadline: frame.deadline)
    do {
      let picture = try await self.filter(frame, compiledPipeline, disposition, bands, observer, meter)
      attempt.ending = .finished(picture, disposition, slowest: observer.slowest.name)
    } catch {
      attempt.ending = .failed(error)
    }
    return attempt
  }

  private func conclude(_ attempt: Attempt) async {
    let frame = attempt.frame
    switch attempt.ending {
    case .finished(let picture, let disposition, let slowest):
      self.session.quality.recordFinished(fullCost: frame.compiledPipeline?.cost.expected, slowest: slowest)
      self.finish(frame, picture, disposition, started: attempt.started)
    case .unchanged:
      self.passThrough(frame, started: attempt.started)
    case .tooLate:
      self.refuse(frame)
    case .failed(let expired as WorkerPassObserver.Expired):
      frame.compiledPipeline?.cost.record(atLeast: self.clock.now() - attempt.started)
      self.drop(frame, Drop(reason: .lateInPipeline, stage: expired.stage))
    case .failed(let error):
      await self.fail(frame, error, started: attempt.started)
    }
  }

  private func filter(
    _ frame: IncomingFrame, _ compiledPipeline: CompiledPipeline, _ disposition: Disposition, _ bands: Int,
    _ observer: WorkerPassObserver, _ meter: WorkMeter
  ) async throws -> OutgoingPicture {
    let start = self.clock.now()
    try compiledPipeline.check(self.engine.frameLimits)
    let picture = try await self.runPlan(
      compiledPipeline, of: frame, frame.outcome(disposition), bands, observer, meter)
    let elapsed = self.clock.now() - start
    compiledPipeline.cost.record(elapsed, work: elapsed + meter.beyondElapsed)
    return picture
  }

  /// Decodes what came as a file, runs the plan, encodes what goes as a file.
  ///
  /// - Parameter outcome: The message, but for the picture.
  func runPlan(
    _ compiledPipeline: CompiledPipeline, of frame: IncomingFrame, _ outcome: Sidelight_V1_FilteredFrame,
    _ bands: Int, _ observer: some PassObserver, _ meter: WorkMeter
  ) async throws -> OutgoingPicture {
    let codec = self.engine.codec
    let input = try await codec.decode(frame.picture, observer: observer)
    frame.samples?.resolve(.decoded(input))
    if case .file = frame.picture { self.session.unreadable.reset() }
    let time = FrameMoment(index: frame.arrival)
    guard compiledPipeline.delivery.coding.isFile else {
      // The last pass writes into the message that goes out, or where the client reads.
      let picture = try OutgoingPicture(
        shapedAs: compiledPipeline.plan.output, orientation: compiledPipeline.delivery.orientation, outcome: outcome,
        ring: self.ring(for: frame))
      try await self.engine.executor.run(
        compiledPipeline.plan, on: input, into: picture.frame, at: time, bands: bands, observer: observer,
        meter: meter)
      return picture
    }
    let finished = try await self.engine.executor.run(
      compiledPipeline.plan, on: input, at: time, bands: bands, observer: observer, meter: meter)
    return try await codec.withJPEG(of: finished, compiledPipeline.jpeg, observer: observer) { file in
      try OutgoingPicture(
        jpeg: file, of: finished.size, orientation: compiledPipeline.delivery.orientation, outcome: outcome,
        limits: self.engine.frameLimits)
    }
  }
}

/// Frames whose filters may not come back: those of a user's own.
extension SessionWorker {
  /// Filters a frame, but goes on without it when that takes ten times what it may: it and those
  /// that come meanwhile get what the failure policy says, until the filter comes back.
  ///
  /// - Returns: A frame that was taken out when the filter had just come back, and has no outcome yet.
  func supervise(_ frame: IncomingFrame) async -> IncomingFrame? {
    let work = self.engine.detachedJobs.start { begun in
      await self.process(frame, begun) { frame }
    }
    // When the session is over, the filter may go on: the session does not wait for it.
    defer { work.abandon() }
    // A frame's wait for its turn is not its filter's fault.
    await work.waitUntilStarted()
    let limit = self.timeout(of: frame)
    // The wait also ends when the session does; then nothing has overrun.
    guard await work.wait(atMost: limit, on: self.clock) == false, !Task.isCancelled else {
      return nil
    }
    let status = GoogleRPCStatus(
      code: .deadlineExceeded, message: "A custom filter has taken more than \(limit).")
    await self.fail(frame, status, self.policy(for: frame, failed: nil), started: self.clock.now())
    while !work.isDone, let next = await self.session.mailbox.next() {
      await self.waitForCapacity()
      guard !Task.isCancelled else { return nil }
      guard !work.isDone else { return next }
      // What needs no filter has nothing to wait for.
      guard next.compiledPipeline?.changesNothing == false else {
        self.passThrough(next, started: self.clock.now())
        continue
      }
      await self.fail(next, status, self.policy(for: next, failed: nil), started: self.clock.now())
    }
    return nil
  }

  /// When the failure policy applies.
  private func timeout(of frame: IncomingFrame) -> Duration {
    frame.deadline.map { ($0 - frame.received) * 10 } ?? self.engine.customFilterTimeout
  }

  /// When the others stop waiting for a frame: long before that.
  func turnLimit(for frame: IncomingFrame, _ compiledPipeline: CompiledPipeline) -> Duration {
    min(
      self.timeout(of: frame),
      max(FrameScheduler.unknownTurnLimit, (compiledPipeline.cost.expected ?? .zero) * 4))
  }
}

/// What becomes of frames: each ends in one of these ways.
extension SessionWorker {
  /// Under an override a frame is never shown as it came.
  func policy(for frame: IncomingFrame, failed filters: [String]?) -> FailurePolicy {
    let stated = filters.flatMap { frame.selection.pipeline.failurePolicy(ofPassWith: $0) }
    let policy = stated ?? self.session.options.failurePolicy
    return frame.selection.isOverride ? max(policy, .blur) : policy
  }

  /// Something went wrong with a frame: it ends as its fault has it, or as the failure policy does.
  func fail(_ frame: IncomingFrame, _ error: any Error, started: Duration) async {
    let failure = error as? WorkerPassObserver.Failure
    let cause = failure?.cause ?? error
    frame.span.record(cause)
    if let unreadable = failure?.cause as? PictureCodec.Unreadable {
      frame.samples?.resolve(.unreadable)
      return self.drop(frame, unreadable.fault(in: frame.message.image))
    }
    let status =
      failure.map { failure in
        GoogleRPCStatus(
          code: .internalError,
          message: "\(failure.filters.joined(separator: "+")) failed: \(failure.cause)")
      } ?? (error as? FieldFault)?.status ?? error as? GoogleRPCStatus
      ?? GoogleRPCStatus(code: .internalError, message: "The frame failed: \(error)")
    await self.fail(
      frame, status, self.policy(for: frame, failed: failure?.filters), started: started)
  }

  func fail(
    _ frame: IncomingFrame, _ status: GoogleRPCStatus, _ policy: FailurePolicy, started: Duration
  ) async {
    switch policy {
    case .passThrough:
      self.passThrough(frame, failure: status, started: started)
    case .drop:
      self.drop(frame, Drop(reason: .stageFailed, stage: .pipeline, diagnostic: status))
    case .blur:
      let blurred = try? await self.engine.scheduler.withTurn(
        session: self.session.handle.number,
        deadline: frame.deadline ?? frame.received + Self.patience
      ) { bands, meter in
        let blur = try self.engine.compileBlur(
          frame.picture.form, as: self.session.options.output)
        try blur.check(self.engine.frameLimits)
        return try await self.runPlan(
          blur, of: frame, frame.outcome(.degraded, failure: status), bands, NoPassObserver(), meter
        )
      }
      guard let blurred else {
        return self.drop(
          frame, Drop(reason: .stageFailed, stage: .pipeline, diagnostic: status))
      }
      self.finish(frame, blurred, .degraded, started: started)
    }
  }

  /// A file whose header was sound is none: that frame ends, whatever the failure policy.
  func drop(_ frame: IncomingFrame, _ fault: FieldFault) {
    let fault = fault.within("frame.image")
    self.session.unreadable.count(fault)
    self.drop(frame, Drop(reason: .invalidFrame, stage: .pipeline, diagnostic: fault.status))
  }

  func drop(_ frame: IncomingFrame, _ drop: Drop) {
    frame.span.end(dropped: drop)
    let lateness = frame.deadline.map { max(.zero, self.clock.now() - $0) } ?? .zero
    self.session.resolve(
      frame.arrival, dropped: drop, lateness: drop.reason == .lateInPipeline ? lateness : .zero)
    if drop.reason == .lateInPipeline { self.session.quality.recordLost() }
  }

  /// The frame comes back as it came, or as a note that it did not change.
  func passThrough(
    _ frame: IncomingFrame, failure: GoogleRPCStatus? = nil, started: Duration
  ) {
    let options = self.session.options
    var outcome = frame.outcome(.passedThrough, failure: failure)
    guard !options.allowUnmodified, !options.analysisOnly else {
      outcome.image.pixels = nil
      outcome.unmodified = true
      return self.finish(frame, .bare(outcome), byteCount: 0, .passedThrough, started: started)
    }
    // In its own slot it comes back where it lies.
    guard !frame.message.image.isInSlot else {
      return self.finish(
        frame, .bare(outcome), byteCount: frame.picture.bytes.byteCount, .passedThrough,
        started: started)
    }
    do {
      let picture = try OutgoingPicture(passing: frame.picture.bytes, outcome: outcome)
      self.finish(frame, picture, .passedThrough, started: started)
    } catch {
      frame.span.record(error)
      let status = GoogleRPCStatus(
        code: .internalError, message: "The frame cannot be sent back: \(error)")
      self.drop(frame, Drop(reason: .stageFailed, stage: .pipeline, diagnostic: status))
    }
  }

  func finish(
    _ frame: IncomingFrame, _ picture: OutgoingPicture, _ disposition: Disposition,
    started: Duration
  ) {
    self.finish(
      frame, picture.content, byteCount: picture.byteCount, disposition, started: started)
  }

  /// Where the frame's picture may go: outcomes answer in kind.
  func ring(for frame: IncomingFrame) -> SessionRing? {
    frame.message.image.isInSlot ? self.session.ring : nil
  }

  func finish(
    _ frame: IncomingFrame, _ content: OutgoingFrame.Content, byteCount: Int,
    _ disposition: Disposition, started: Duration
  ) {
    // An override holds for whatever has not gone out, however it was made.
    guard frame.selection.isOverride || !self.session.handle.isOverridden else {
      return self.drop(frame, Drop(reason: .superseded, stage: .pipeline))
    }
    let timing = Sidelight_V1_FrameTiming.with {
      $0.queueUs = (started - frame.received).wireMicroseconds
      $0.processUs = (self.clock.now() - started).wireMicroseconds
    }
    self.session.resolve(
      frame.arrival,
      finished: FinishedFrame(
        sequence: frame.message.sequence, disposition: disposition,
        revision: frame.selection.revision, byteCount: byteCount,
        deadline: frame.message.mustProcess ? nil : frame.deadline,
        mustStay: frame.message.mustProcess,
        payload: OutgoingFrame(
          content: content, timing: timing, received: frame.received, span: frame.span)))
  }
}
