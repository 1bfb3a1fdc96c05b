import GRPCCore
import GRPCProtobuf
import SidelightCodecs
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// Takes frames out of the mailbox and filters them, one at a time, when the scheduler says so.
struct SessionLane {
  let session: Session

  var engine: Engine { self.session.engine }
  var clock: SessionClock { self.session.engine.clock }

  /// Runs until the mailbox is finished and empty, or the task is cancelled.
  func run() async {
    while let frame = await self.next() { await self.serve(frame) }
  }

  /// The next frame, once there is room for its picture; `nil` when there will be none any more.
  func next() async -> IncomingFrame? {
    guard let frame = await self.session.mailbox.next() else { return nil }
    if self.session.options.dropPolicy != .newestWins {
      await self.session.outbox.waitForPictureRoom()
    }
    return Task.isCancelled ? nil : frame
  }

  func serve(_ frame: IncomingFrame) async {
    if frame.program?.isCustom == true {
      await self.supervise(frame)
    } else {
      await self.process(frame)
    }
  }

  // MARK: One frame

  /// Gives a frame its outcome.
  ///
  /// - Parameter begin: Is finished when the frame's turn has come.
  func process(_ frame: IncomingFrame, _ begin: Completion? = nil) async {
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
      ) { bands, meter in
        started = self.clock.now()
        begin?.finish()
        frame.span.leaveQueue()
        // Its turn may have been long in coming.
        try self.checkTime(for: frame, variant ?? program)
        return try await self.filter(
          frame, variant ?? program, disposition, bands, observer, meter)
      }
      self.session.quality.recordMade(
        fullCost: program.cost.expected, slowest: observer.slowest.name)
      self.finish(frame, output, disposition, started: started)
    } catch  where Task.isCancelled {
      // Nobody waits for it any more.
      return
    } catch let expired as LanePassObserver.Expired {
      if expired.stage == .pipeline { program.cost.record(atLeast: self.clock.now() - started) }
      self.drop(frame, Drop(reason: .lateInPipeline, stage: expired.stage))
    } catch let failure as LanePassObserver.Failure {
      frame.span.record(failure.cause)
      if let unreadable = failure.cause as? PictureCodec.Unreadable {
        frame.samples?.settle(.unreadable)
        return self.drop(frame, unreadable.fault(in: frame.message.image))
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
  static let patience = Duration.milliseconds(200)

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
    _ observer: LanePassObserver, _ meter: WorkMeter
  ) async throws -> OutgoingPicture {
    let start = self.clock.now()
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
  func make(
    _ program: Program, of frame: IncomingFrame, _ outcome: Sidelight_V1_FilteredFrame,
    _ bands: Int, _ observer: some PassObserver, _ meter: WorkMeter
  ) async throws -> OutgoingPicture {
    let codec = self.engine.codec
    let input = try await codec.decode(frame.picture, observer: observer)
    frame.samples?.settle(.decoded(input))
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
}
