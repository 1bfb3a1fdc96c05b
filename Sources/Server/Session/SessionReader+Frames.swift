import GRPCProtobuf
import ServiceLifecycle
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf

/// What a reader does with frames.
extension SessionReader {
  /// Checks a frame and finds its place: in the mailbox, back where it came from, or nowhere.
  mutating func receive(
    _ message: Sidelight_V1_Frame, _ pixels: PixelBuffer?
  ) async throws {
    let received = self.engine.clock.now()
    let byteCount = pixels?.byteCount ?? self.session.ring?.byteCount(of: message.image) ?? 0
    let span = self.engine.tracing.startFrame(message, byteCount: byteCount, in: self.session)
    let reservation = self.outbox.reserve(sequence: message.sequence, byteCount: byteCount)
    let pause = self.handle.pause
    let picture: IncomingPicture
    do throws(FieldFault) {
      try self.checkSequence(of: message)
      let slot =
        pixels == nil ? try self.takeSlot(of: message.image, for: reservation.arrival) : nil
      // Whoever copies a file looks first whether it is wanted.
      if let slot, message.image.format.isFile,
        let reason = await self.refusal(
          of: message, byteCount, reservation, pause: pause, at: received)
      {
        withExtendedLifetime(slot) {}
        return self.drop(reservation, span, Drop(reason: reason, stage: .arrival))
      }
      let contents = await self.contents(of: slot, message.image)
      picture = try self.check(message, pixels ?? contents)
      self.faultsInARow = 0
      // Whether a file is sound is known only when it has been decoded.
      if case .frame = picture { self.session.unreadable.reset() }
    } catch {
      self.drop(
        reservation, span, Drop(reason: .invalidFrame, stage: .arrival, diagnostic: error.status))
      return try self.countFault(error)
    }
    self.handle.note(picture.form.geometry)
    let selection = self.handle.selection(at: received)
    let isAdmitted = pixels == nil && message.image.format.isFile
    if !isAdmitted,
      let reason = await self.refusal(
        of: message, byteCount, reservation, pause: pause, at: received)
    {
      return self.drop(reservation, span, Drop(reason: reason, stage: .arrival))
    }
    let program = await self.programs.program(for: selection, picture.form)
    // What an operator forced holds for frames that a pause would let pass.
    let passes =
      self.session.options.analysisOnly || (pause == .passing && !selection.isOverride)
    var frame = IncomingFrame(
      arrival: reservation.arrival, message: message, picture: picture, selection: selection,
      program: passes ? nil : program, received: received,
      deadline: self.deadline(of: message, received: received), span: span)
    let due = self.analyses.due(
      among: program.plan.analyses, isReduced: self.session.quality.isReduced)
    if !due.isEmpty {
      try await self.show(&frame, to: due, stages: program.plan.analyses.map(\.stage))
    }
    guard self.hasTime(for: frame) else {
      return self.drop(reservation, span, Drop(reason: .lateOnArrival, stage: .arrival))
    }
    guard !self.isFree(frame) else {
      return SessionLane(session: self.session).passThrough(frame, started: received)
    }
    guard let displaced = await self.session.mailbox.offer(frame) else { return }
    self.session.drop(
      displaced.element, Drop(reason: displaced.reason, stage: .mailbox))
  }

  /// Lets analyses look at a frame.
  ///
  /// - Parameter stages: The stages of all that the pipeline has.
  /// - Throws: `CancellationError`.
  private mutating func show(
    _ frame: inout IncomingFrame, to analyses: [PlannedAnalysis], stages: [String]
  ) async throws {
    let desk = self.session.analysisDesk
    // What is in a slot is copied to be looked at later. Not in vain: the copy waits for a compute thread,
    // and the frame for the copy.
    guard !frame.isInPlace || desk.isFree(for: analyses) else {
      return self.analyses.postpone(analyses)
    }
    let picture = try await self.pictureToKeep(of: frame)
    // Whoever holds this is expected to decode; so the lane's frame does, and the others' do not.
    let watched = frame
    if case .file = picture, let program = frame.program, !program.changesNothing {
      frame.samples = SharedSamples.Source()
    }
    desk.begin(frame.arrival)
    let displaced = await self.session.analysisJobs.offer(
      AnalysisJob(
        frame: watched, picture: picture, samples: frame.samples?.samples, analyses: analyses,
        stages: stages))
    if let displaced { desk.end(displaced.element.frame.arrival) }
  }

  /// Whether a frame comes back with so little work that it would only be delayed by changing threads
  /// for it. Its outcome still stands in the order of arrival.
  private func isFree(_ frame: IncomingFrame) -> Bool {
    let options = self.session.options
    guard frame.program?.changesNothing != false, !Task.isShuttingDownGracefully,
      // The lane may count on the room that it found for what it makes.
      self.session.mailbox.isConsumerWaiting,
      options.dropPolicy == .newestWins || self.outbox.hasRoomForPicture
    else { return false }
    return options.allowUnmodified || options.analysisOnly || frame.message.image.isInSlot
      || frame.picture.bytes.isTransportable
      || frame.picture.bytes.byteCount <= Self.smallPicture
  }

  /// Bytes that are copied in the time that it takes to wake another thread.
  private static let smallPicture = 64 << 10

  /// Why a sound frame has no place in the mailbox, if it has none.
  private mutating func refusal(
    of message: Sidelight_V1_Frame, _ byteCount: Int,
    _ reservation: Session.FrameOutbox.Reservation,
    pause: SelectionDesk.Pause, at received: Duration
  ) async -> DropReason? {
    if pause == .dropping { return .paused }
    // Whoever may not lose a frame is held back instead.
    if !reservation.hasCredit, self.session.options.dropPolicy != .neverDrop { return .noCredit }
    if !message.mustProcess, self.decimator?.admits(at: received) == false { return .rateLimited }
    // What the operator allows the caller holds for every frame.
    let mayWait = self.session.options.dropPolicy == .neverDrop
    let isAllowed = await self.session.allowance.takeFrame(of: byteCount, waiting: mayWait)
    return isAllowed ? nil : .rateLimited
  }

  private func deadline(of message: Sidelight_V1_Frame, received: Duration) -> Duration? {
    guard !message.mustProcess, self.session.options.dropPolicy != .neverDrop else { return nil }
    guard message.hasBudgetUs else { return self.session.options.budget.map { received + $0 } }
    return message.budgetUs == 0 ? nil : received + .microseconds(message.budgetUs)
  }

  /// Whether the work that is expected fits into the frame's budget.
  private func hasTime(for frame: IncomingFrame) -> Bool {
    guard let program = frame.program, !program.changesNothing else { return true }
    guard let expected = program.cost.expected else { return true }
    self.engine.scheduler.note(work: program.cost.work ?? expected, session: self.handle.number)
    let cheapest = program.reduced?.cost.expected.map { min($0, expected) } ?? expected
    guard let deadline = frame.deadline, frame.received + cheapest > deadline else { return true }
    program.cost.recordRefusal()
    self.session.quality.recordLost()
    return false
  }

  private mutating func checkSequence(of frame: Sidelight_V1_Frame) throws(FieldFault) {
    if let last = self.lastSequence, frame.sequence <= last {
      throw FieldFault(
        field: "frame.sequence", reason: "is \(frame.sequence), after \(last) it must be greater")
    }
    self.lastSequence = frame.sequence
  }

  private func check(
    _ frame: Sidelight_V1_Frame, _ pixels: PixelBuffer?
  ) throws(FieldFault) -> IncomingPicture {
    let tagBytes = frame.tags.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    guard frame.tags.count <= ContractLimits.maxTags, tagBytes <= ContractLimits.maxTagBytes else {
      throw FieldFault(
        field: "frame.tags",
        reason: "has \(frame.tags.count) entries of \(tagBytes) bytes; the limits are "
          + "\(ContractLimits.maxTags) and \(ContractLimits.maxTagBytes)")
    }
    do throws(FieldFault) {
      return try IncomingPicture(
        frame.image, over: pixels, limits: self.engine.frameLimits, jpeg: self.engine.codec.jpeg)
    } catch {
      throw error.within("frame.image")
    }
  }

  private func drop(
    _ reservation: Session.FrameOutbox.Reservation, _ span: FrameSpan, _ drop: Drop
  ) {
    span.end(dropped: drop)
    self.session.resolve(reservation.arrival, dropped: drop)
  }
}
