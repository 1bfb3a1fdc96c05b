import GRPCCore
import GRPCProtobuf
import SidelightCodecs
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// Takes frames out of the mailbox and filters them, one at a time, when the scheduler says so.
struct SessionLane {
  let session: Session

  private var engine: Engine { self.session.engine }
  private var clock: SessionClock { self.session.engine.clock }

  /// Runs until the mailbox is finished and empty, or the task is cancelled.
  func run() async {
    // A filter of a user's own that does not come back is left behind here, until it does.
    await withDiscardingTaskGroup { group in
      while let frame = await self.next() { await self.serve(frame, in: &group) }
    }
  }

  /// The next frame, once there is room for its picture; `nil` when there will be none any more.
  private func next() async -> IncomingFrame? {
    guard let frame = await self.session.mailbox.next() else { return nil }
    if self.session.options.dropPolicy != .newestWins {
      await self.session.outbox.waitForPictureRoom()
    }
    return Task.isCancelled ? nil : frame
  }

  private func serve(_ frame: IncomingFrame, in group: inout DiscardingTaskGroup) async {
    if frame.program?.isCustom == true {
      await self.supervise(frame, in: &group)
    } else {
      await self.process(frame)
    }
  }

  // MARK: Filters of a user's own

  /// Filters a frame, but goes on without it when that takes ten times what it may: it and those
  /// that come meanwhile get what the failure policy says, until the filter comes back.
  private func supervise(_ frame: IncomingFrame, in group: inout DiscardingTaskGroup) async {
    let work = Completion()
    // A frame's wait for its turn is not its filter's fault.
    let begin = Completion()
    group.addTask(executorPreference: self.engine.compute) {
      await self.process(frame, begin)
      begin.finish()
      work.finish()
    }
    await begin.wait()
    let limit = self.timeout(of: frame)
    // The wait also ends when the session does; then nothing has overrun.
    guard await work.wait(atMost: limit, on: self.clock) == false, !Task.isCancelled else { return }
    let status = GoogleRPCStatus(
      code: .deadlineExceeded, message: "A custom filter has taken more than \(limit).")
    await self.fail(frame, status, self.policy(for: frame, failed: nil), started: self.clock.now())
    while !work.isOver, let next = await self.next() {
      guard !work.isOver else { return await self.serve(next, in: &group) }
      // What needs no filter has nothing to wait for.
      guard next.program?.changesNothing == false else {
        await self.process(next)
        continue
      }
      await self.fail(next, status, self.policy(for: next, failed: nil), started: self.clock.now())
    }
  }

  /// When the failure policy applies.
  private func timeout(of frame: IncomingFrame) -> Duration {
    frame.deadline.map { ($0 - frame.received) * 10 } ?? self.engine.customFilterTimeout
  }

  /// When the others stop waiting for a frame: long before that.
  private func turnLimit(for frame: IncomingFrame, _ program: Program) -> Duration {
    min(
      self.timeout(of: frame),
      max(FrameScheduler.unknownTurnLimit, (program.cost.expected ?? .zero) * 4))
  }

  // MARK: One frame

  /// - Parameter begin: Is finished when the frame's turn has come.
  private func process(_ frame: IncomingFrame, _ begin: Completion? = nil) async {
    guard let program = frame.program, !program.changesNothing else {
      return self.passThrough(frame, started: self.clock.now())
    }
    let observer = LanePassObserver(
      tracing: frame.span.passObserver, clock: self.clock, deadline: frame.deadline)
    var started = self.clock.now()
    do {
      let variant = self.session.quality.isReduced ? program.cheaperVariant : nil
      try self.checkTime(for: frame, variant ?? program)
      let disposition = variant == nil ? Disposition.filtered : .degraded
      let output = try await self.engine.scheduler.withTurn(
        session: self.session.handle.number,
        deadline: frame.deadline ?? frame.received + Self.patience,
        limit: program.isCustom ? self.turnLimit(for: frame, program) : nil
      ) { bands in
        started = self.clock.now()
        begin?.finish()
        frame.span.leaveQueue()
        // Its turn may have been long in coming.
        try self.checkTime(for: frame, variant ?? program)
        return try await self.filter(frame, variant ?? program, disposition, bands, observer)
      }
      self.session.quality.recordMade(
        fullCost: program.cost.expected, slowest: observer.slowest.name)
      self.finish(frame, output, disposition, started: started)
    } catch is CancellationError where Task.isCancelled {
      return
    } catch let expired as LanePassObserver.Expired {
      if expired.stage == .pipeline { program.cost.record(atLeast: self.clock.now() - started) }
      self.drop(frame, Drop(reason: .lateInPipeline, stage: expired.stage))
    } catch let failure as LanePassObserver.Failure {
      frame.span.record(failure.cause)
      if let unreadable = failure.cause as? PictureCodec.Unreadable {
        return self.drop(frame, unreadable.fault)
      }
      let status = GoogleRPCStatus(
        code: .internalError,
        message: "\(failure.filters.joined(separator: "+")) failed: \(failure.cause)")
      await self.fail(
        frame, status, self.policy(for: frame, failed: failure.filters), started: started)
    } catch {
      frame.span.record(error)
      let status =
        (error as? FieldFault)?.status ?? error as? GoogleRPCStatus
        ?? GoogleRPCStatus(code: .internalError, message: "The frame failed: \(error)")
      await self.fail(frame, status, self.policy(for: frame, failed: nil), started: started)
    }
  }

  /// Frames without a budget of their own stand behind those that have less time than this.
  private static let patience = Duration.milliseconds(200)

  /// - Throws: ``LanePassObserver/Expired`` if there is not the time for the work that is expected.
  private func checkTime(for frame: IncomingFrame, _ program: Program) throws {
    guard let deadline = frame.deadline else { return }
    let now = self.clock.now()
    guard now + (program.cost.expected ?? .zero) > deadline else { return }
    if now <= deadline { program.cost.recordRefusal() }
    throw LanePassObserver.Expired(stage: .mailbox)
  }

  private func filter(
    _ frame: IncomingFrame, _ program: Program, _ disposition: Disposition, _ bands: Int,
    _ observer: LanePassObserver
  ) async throws -> OutgoingPicture {
    let start = self.clock.now()
    let meter = WorkMeter(now: self.clock.now)
    try program.check(self.engine.frameLimits)
    let picture = try await self.make(
      program, of: frame, frame.outcome(disposition), bands, observer, meter)
    let elapsed = self.clock.now() - start
    program.cost.record(elapsed, work: elapsed + meter.beyondElapsed)
    return picture
  }

  /// Decodes what came as a file, runs the plan, encodes what goes as a file.
  ///
  /// - Parameter outcome: The message, but for the picture.
  private func make(
    _ program: Program, of frame: IncomingFrame, _ outcome: Sidelight_V1_FilteredFrame,
    _ bands: Int, _ observer: some PassObserver, _ meter: WorkMeter? = nil
  ) async throws -> OutgoingPicture {
    let codec = self.engine.codec
    let input = try await codec.decode(frame.picture, observer: observer)
    if case .file = frame.picture { self.session.unreadable.reset() }
    let moment = FrameMoment(index: frame.arrival)
    guard program.delivery.coding.isFile else {
      // The last pass writes into the message that goes out, or where the client reads.
      let picture = try OutgoingPicture(
        shapedAs: program.plan.output, orientation: program.delivery.orientation, outcome: outcome,
        ring: self.ring(for: frame))
      try await self.engine.executor.run(
        program.plan, on: input, into: picture.frame, at: moment, bands: bands, observer: observer,
        meter: meter)
      return picture
    }
    let made = try await self.engine.executor.run(
      program.plan, on: input, at: moment, bands: bands, observer: observer, meter: meter)
    return try await codec.withJPEG(of: made, program.jpeg, observer: observer) { file in
      try OutgoingPicture(
        jpeg: file, of: made.size, orientation: program.delivery.orientation, outcome: outcome,
        limits: self.engine.frameLimits)
    }
  }

  // MARK: Outcomes

  /// Under an override a frame is never shown as it came.
  private func policy(for frame: IncomingFrame, failed filters: [String]?) -> FailurePolicy {
    let stated = filters.flatMap { frame.selection.pipeline.failurePolicy(ofPassWith: $0) }
    let policy = stated ?? self.session.options.failurePolicy
    return frame.selection.isOverride ? max(policy, .blur) : policy
  }

  private func fail(
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
      ) { bands in
        let blur = try self.engine.blurBeyondRecognition(
          frame.picture.form, as: self.session.options.output)
        try blur.check(self.engine.frameLimits)
        return try await self.make(
          blur, of: frame, frame.outcome(.degraded, failure: status), bands, NoPassObserver())
      }
      guard let blurred else {
        return self.drop(
          frame, Drop(reason: .stageFailed, stage: .pipeline, diagnostic: status))
      }
      self.finish(frame, blurred, .degraded, started: started)
    }
  }

  /// A file whose header was sound is none: that frame ends, whatever the failure policy.
  private func drop(_ frame: IncomingFrame, _ fault: FieldFault) {
    let fault = fault.within("frame.image")
    self.session.unreadable.count(fault)
    self.drop(frame, Drop(reason: .invalidFrame, stage: .pipeline, diagnostic: fault.status))
  }

  private func drop(_ frame: IncomingFrame, _ drop: Drop) {
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
      let picture = try OutgoingPicture(copying: frame.picture.bytes, outcome: outcome)
      self.finish(frame, picture, .passedThrough, started: started)
    } catch {
      frame.span.record(error)
      let status = GoogleRPCStatus(
        code: .internalError, message: "The frame cannot be sent back: \(error)")
      self.drop(frame, Drop(reason: .stageFailed, stage: .pipeline, diagnostic: status))
    }
  }

  private func finish(
    _ frame: IncomingFrame, _ picture: OutgoingPicture, _ disposition: Disposition,
    started: Duration
  ) {
    self.finish(
      frame, picture.content, byteCount: picture.byteCount, disposition, started: started)
  }

  /// Where the frame's picture may go: outcomes answer in kind.
  private func ring(for frame: IncomingFrame) -> SessionRing? {
    frame.message.image.isInSlot ? self.session.ring : nil
  }

  private func finish(
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
      made: FinishedFrame(
        sequence: frame.message.sequence, disposition: disposition,
        revision: frame.selection.revision, byteCount: byteCount,
        deadline: frame.message.mustProcess ? nil : frame.deadline,
        mustStay: frame.message.mustProcess,
        payload: OutgoingFrame(
          content: content, timing: timing, received: frame.received, span: frame.span)))
  }
}
