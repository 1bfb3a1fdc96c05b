import GRPCCore
import GRPCProtobuf
import ServiceLifecycle
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// Reads a client's messages: frames go to the mailbox, changes to the desk, faults are answered.
struct SessionReader: ~Copyable {
  let session: Session
  private var programs: ProgramShelf
  private var decimator: FrameDecimator?
  private var analyses = AnalysisSchedule()
  private var lastSequence: UInt64?
  private var faultsInARow = 0

  init(session: Session) {
    self.session = session
    self.programs = ProgramShelf(
      engine: session.engine, output: session.options.output,
      allowsReduced: session.options.allowDegraded)
    self.decimator = session.options.maxFPS.map(FrameDecimator.init(framesPerSecond:))
  }

  var engine: Engine { self.session.engine }
  var outbox: Session.FrameOutbox { self.session.outbox }
  private var handle: SessionHandle { self.session.handle }

  mutating func run(_ messages: ClientMessages) async throws {
    while let received = try await messages.next() {
      let message = received.message
      // A client that neither reads nor stops talking is held back here.
      await self.outbox.waitForRoom()
      if let advice = self.session.quality.takeAdvice() {
        self.outbox.push(.with { $0.advice = advice })
      }
      try self.checkFiles()
      switch message.kind {
      case .frame(let frame)?: try await self.receive(frame, received.pixels)
      case .ack(let ack)?: try self.receive(ack)
      case .select(let select)?: try self.receive(select)
      case .update(let update)?: try self.receive(update)
      case .activate(let activate)?: try self.receive(activate)
      case .pause(let pause)?: self.handle.setPause(pause.passThrough ? .passing : .dropping)
      case .resume?: self.handle.setPause(.running)
      case .ping(let ping)?: self.answer(ping)
      case .open?:
        throw FieldFault(code: .failedPrecondition, field: "open", reason: "was sent twice")
      case nil:
        guard !message.unknownFields.data.isEmpty else {
          throw FieldFault(
            field: "kind", reason: "is not set, and no field that is unknown is either")
        }
        self.outbox.countIgnoredMessage()
      }
    }
  }

  // MARK: Frames

  private mutating func receive(
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
        let reason = self.refusal(of: message, reservation, pause: pause, at: received)
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
      let reason = self.refusal(of: message, reservation, pause: pause, at: received)
    {
      return self.drop(reservation, span, Drop(reason: reason, stage: .arrival))
    }
    let program = await self.programs.program(for: selection, picture.form)
    // What an operator forced holds for frames that a pause would let pass.
    let passes =
      self.session.options.analysisOnly || (pause == .passing && !selection.isOverride)
    let frame = IncomingFrame(
      arrival: reservation.arrival, message: message, picture: picture, selection: selection,
      program: passes ? nil : program, received: received,
      deadline: self.deadline(of: message, received: received), span: span)
    let due = self.analyses.due(
      among: program.plan.analyses, isReduced: self.session.quality.isReduced)
    if !due.isEmpty {
      _ = await self.session.analysisJobs.offer(
        AnalysisJob(
          frame: frame, picture: try await self.pictureToKeep(of: frame), analyses: due,
          stages: program.plan.analyses.map(\.stage)))
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
      || frame.picture.bytes.byteCount <= Self.smallPicture
  }

  /// Bytes that are copied in the time that it takes to wake another thread.
  private static let smallPicture = 64 << 10

  /// Why a sound frame has no place in the mailbox, if it has none.
  private mutating func refusal(
    of message: Sidelight_V1_Frame, _ reservation: Session.FrameOutbox.Reservation,
    pause: SelectionDesk.Pause, at received: Duration
  ) -> DropReason? {
    if pause == .dropping { return .paused }
    // Whoever may not lose a frame is held back instead.
    if !reservation.hasCredit, self.session.options.dropPolicy != .neverDrop { return .noCredit }
    if !message.mustProcess, self.decimator?.admits(at: received) == false { return .rateLimited }
    return nil
  }

  private func deadline(of message: Sidelight_V1_Frame, received: Duration) -> Duration? {
    guard !message.mustProcess else { return nil }
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
    guard frame.tags.count <= 16, tagBytes <= 1024 else {
      throw FieldFault(
        field: "frame.tags",
        reason: "has \(frame.tags.count) entries of \(tagBytes) bytes, the limits are 16 and 1024")
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

  // MARK: Control

  private mutating func receive(_ select: Sidelight_V1_Select) throws {
    try self.change(
      "select", ifRevision: select.hasIfRevision ? select.ifRevision : nil,
      requestID: select.requestID
    ) { pipeline throws(FieldFault) in
      do throws(FieldFault) {
        pipeline = try Pipeline(select.pipeline)
      } catch {
        throw error.within("pipeline")
      }
    }
  }

  private mutating func receive(_ update: Sidelight_V1_Update) throws {
    try self.change(
      "update", ifRevision: update.hasIfRevision ? update.ifRevision : nil,
      requestID: update.requestID
    ) { pipeline throws(FieldFault) in
      for (index, stage) in update.stages.enumerated() {
        do throws(FieldFault) {
          try pipeline.apply(stage)
        } catch {
          throw error.within("stages[\(index)]")
        }
      }
    }
  }

  private mutating func receive(_ activate: Sidelight_V1_Activate) throws {
    try self.change(
      "activate", ifRevision: activate.hasIfRevision ? activate.ifRevision : nil,
      requestID: activate.requestID
    ) { pipeline throws(FieldFault) in
      for (name, isActive) in activate.stages {
        do throws(PipelineError) {
          try pipeline.setActive(isActive, stage: name)
        } catch {
          throw FieldFault(field: "stages[\"\(name.prefix(64))\"]", reason: "\(error)")
        }
      }
    }
  }

  private mutating func change(
    _ kind: String, ifRevision revision: UInt64?, requestID: UInt64,
    _ body: (inout Pipeline) throws(FieldFault) -> Void
  ) throws {
    do throws(FieldFault) {
      try self.handle.change(ifRevision: revision, requestID: requestID, body)
      self.faultsInARow = 0
    } catch {
      let fault = error.within(kind)
      self.outbox.push(
        .with {
          $0.error.requestID = requestID
          $0.error.status = Google_Rpc_Status(fault.status)
        })
      try self.countFault(fault)
    }
  }

  private func answer(_ ping: Sidelight_V1_Ping) {
    let received = self.engine.clock.nanosecondsSince1970()
    self.outbox.push(
      .with {
        $0.pong.id = ping.id
        $0.pong.clientTimeNs = ping.clientTimeNs
        $0.pong.serverReceivedNs = Int64(clamping: received)
      })
  }

  /// A client that sends nothing but faults is broken; answering it for ever helps nobody.
  mutating func countFault(_ fault: FieldFault) throws {
    self.faultsInARow += 1
    let limit = self.engine.maxConsecutiveErrors
    if self.faultsInARow > limit {
      throw GoogleRPCStatus.tooManyFaults(limit: limit, last: fault)
    }
  }

  /// Nor does decoding for ever what turns out to be broken.
  private func checkFiles() throws {
    let limit = self.engine.maxConsecutiveErrors
    if let fault = self.session.unreadable.last(ifMoreThan: limit) {
      throw GoogleRPCStatus.tooManyFaults(limit: limit, last: fault)
    }
  }
}

extension Pipeline {
  /// Changes the parameters that a message names.
  fileprivate mutating func apply(
    _ update: Sidelight_V1_Update.StageParameters
  ) throws(FieldFault) {
    var parameters: [String: ParameterValue] = [:]
    for (name, value) in update.parameters {
      do throws(FieldFault) {
        parameters[name] = try ParameterValue(value)
      } catch {
        throw error.within("parameters[\"\(name.prefix(64))\"]")
      }
    }
    do throws(PipelineError) {
      try self.setParameters(parameters, stage: update.stage)
    } catch {
      throw FieldFault(field: "stage", reason: "\(error)")
    }
  }
}
