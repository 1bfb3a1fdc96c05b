import GRPCCore
import GRPCProtobuf
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
      guard next.program?.plan.isIdentity == false else {
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
    guard let program = frame.program, !program.plan.isIdentity else {
      return self.finish(
        frame, frame.message.image, .passedThrough, started: self.clock.now())
    }
    let observer = LanePassObserver(
      tracing: frame.span.passObserver, clock: self.clock, deadline: frame.deadline)
    var started = self.clock.now()
    do {
      let variant = self.session.quality.isReduced ? program.cheaperVariant : nil
      try self.checkTime(for: frame, variant ?? program)
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
        return try await self.filter(frame, variant ?? program, bands, observer)
      }
      self.session.quality.recordMade(
        fullCost: program.cost.expected, slowest: observer.slowest.name)
      self.finish(frame, output, variant == nil ? .filtered : .degraded, started: started)
    } catch is CancellationError where Task.isCancelled {
      return
    } catch let expired as LanePassObserver.Expired {
      if expired.stage == .pipeline { program.cost.record(atLeast: self.clock.now() - started) }
      self.drop(frame, Drop(reason: .lateInPipeline, stage: expired.stage))
    } catch let failure as LanePassObserver.Failure {
      frame.span.record(failure.cause)
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
    _ frame: IncomingFrame, _ program: Program, _ bands: Int, _ observer: LanePassObserver
  ) async throws -> Sidelight_V1_Image {
    let start = self.clock.now()
    let meter = WorkMeter(now: self.clock.now)
    try self.engine.frameLimits.check(output: program.plan.output)
    let input = try frame.message.image.makeFrame(
      limits: self.engine.frameLimits, pool: self.engine.pool)
    let output = try await self.engine.executor.run(
      program.plan, on: input, at: FrameMoment(index: frame.arrival), bands: bands,
      observer: observer, meter: meter)
    let image = Sidelight_V1_Image(output)
    let elapsed = self.clock.now() - start
    program.cost.record(elapsed, work: elapsed + meter.beyondElapsed)
    return image
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
      self.finish(frame, frame.message.image, .passedThrough, failure: status, started: started)
    case .drop:
      self.drop(frame, Drop(reason: .stageFailed, stage: .pipeline, diagnostic: status))
    case .blur:
      let blurred = try? await self.engine.scheduler.withTurn(
        session: self.session.handle.number,
        deadline: frame.deadline ?? frame.received + Self.patience
      ) { bands in
        try await self.engine.blurBeyondRecognition(frame.message.image, bands: bands)
      }
      guard let blurred else {
        return self.drop(
          frame, Drop(reason: .stageFailed, stage: .pipeline, diagnostic: status))
      }
      self.finish(frame, blurred, .degraded, failure: status, started: started)
    }
  }

  private func drop(_ frame: IncomingFrame, _ drop: Drop) {
    frame.span.end(dropped: drop)
    let lateness = frame.deadline.map { max(.zero, self.clock.now() - $0) } ?? .zero
    self.session.outbox.resolve(
      frame.arrival, dropped: drop, lateness: drop.reason == .lateInPipeline ? lateness : .zero)
    if drop.reason == .lateInPipeline { self.session.quality.recordLost() }
  }

  private func finish(
    _ frame: IncomingFrame, _ image: Sidelight_V1_Image, _ disposition: Disposition,
    failure: GoogleRPCStatus? = nil, started: Duration
  ) {
    var image = image
    let isUnmodified =
      disposition == .passedThrough
      && (self.session.options.allowUnmodified || self.session.options.analysisOnly)
    if isUnmodified || self.session.options.analysisOnly { image.pixels = nil }
    // An override holds for whatever has not gone out, however it was made.
    guard frame.selection.isOverride || !self.session.handle.isOverridden else {
      return self.drop(frame, Drop(reason: .superseded, stage: .pipeline))
    }
    let message = Sidelight_V1_FilteredFrame.with {
      $0.sequence = frame.message.sequence
      $0.image = image
      $0.captureTimeNs = frame.message.captureTimeNs
      $0.rtpTimestamp = frame.message.rtpTimestamp
      $0.revision = frame.selection.revision.number
      $0.disposition = Sidelight_V1_Disposition(disposition)
      $0.unmodified = isUnmodified
      $0.timing.queueUs = (started - frame.received).wireMicroseconds
      $0.timing.processUs = (self.clock.now() - started).wireMicroseconds
      $0.tags = frame.message.tags
      if let failure { $0.failure = Google_Rpc_Status(failure) }
    }
    self.session.outbox.resolve(
      frame.arrival,
      made: FinishedFrame(
        sequence: frame.message.sequence, disposition: disposition,
        revision: frame.selection.revision, byteCount: image.inline.count,
        deadline: frame.message.mustProcess ? nil : frame.deadline,
        mustStay: frame.message.mustProcess,
        payload: OutgoingFrame(message: message, received: frame.received, span: frame.span)))
  }
}
