import GRPCCore
import GRPCProtobuf
import SidelightCodecs
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf

/// Reads a client's messages: offers frames to the mailbox, applies changes to the pipeline state,
/// and answers errors.
struct SessionReader: ~Copyable {
  private let session: Session
  private var pictures: FramePictureReader
  private var intake: FrameIntake
  private var rate: ControlRate
  private var excess: ExcessFrames
  /// The errors since the last valid frame or change.
  private var consecutiveErrors = 0

  private var engine: Engine { self.session.engine }
  private var outcomes: Session.FrameOutcomeQueue { self.session.outcomes }
  private var handle: SessionHandle { self.session.handle }

  init(session: Session) {
    let engine = session.engine
    self.session = session
    self.pictures = FramePictureReader(
      processing: engine.processing, limits: engine.admission.frameLimits, ring: session.ring)
    self.intake = FrameIntake(session: session)
    self.rate = ControlRate(at: engine.clock.now())
    self.excess = ExcessFrames(at: engine.clock.now())
  }

  /// Reads until the client has closed its side.
  ///
  /// - Throws: `CancellationError` as soon as the call is cancelled, even if messages are still
  ///   unread; ``FieldViolation`` if the client breaks the order of messages.
  mutating func run(_ messages: ClientMessages) async throws {
    while let received = try await messages.next() {
      // Back-pressure for a client that sends but does not read. The wait ends on cancellation,
      // after which the sequence still delivers the messages that have arrived.
      await self.outcomes.waitForCapacity()
      try Task.checkCancellation()
      if let advice = self.session.quality.takeAdvice() {
        self.outcomes.push(.message(.with { $0.advice = advice }))
      }
      try self.checkDecodingErrors()
      if case .frame(let frame)? = received.message.kind {
        guard self.session.composition == nil else {
          throw FieldViolation(
            code: .failedPrecondition, field: "frame",
            reason: "was sent to a session with a composition, which makes its own frames")
        }
        self.rate.countFrame(outcomes: max(1, self.session.outputs.count))
        try await self.receive(frame, received.pixels)
        try await self.waitForExcess()
        try await self.waitForRoom()
      } else {
        try await self.handle(received)
      }
    }
  }

  // MARK: Control messages

  /// Handles a control message once the session's rate allows it.
  private mutating func handle(
    _ received: ReceivedMessage<Sidelight_V1_ClientMessage>
  ) async throws {
    let message = received.message
    if case .ack(let ack)? = message.kind, ack.heldSlots.count <= RingLayout.maxSlots,
      self.rate.takeFreeAcknowledgement()
    {
      return try self.receive(ack)
    }
    try await self.waitForRate()
    var cost = 1
    switch message.kind {
    case .ack(let ack)?: try self.receive(ack)
    case .select(let select)?:
      try self.apply(PipelineChange(select))
      cost += self.handle.stageCount
    case .update(let update)?:
      try self.apply(PipelineChange(update))
      cost += self.handle.stageCount
    case .activate(let activate)?:
      try self.apply(PipelineChange(activate))
      cost += self.handle.stageCount
    case .pause(let pause)?:
      self.handle.setPause(pause.passThrough ? .passing : .dropping)
      cost += self.handle.stageCount
    case .resume?:
      self.handle.setPause(.running)
      cost += self.handle.stageCount
    case .ping(let ping)?: self.answer(ping)
    case .setEncoder(let change)?: try self.apply(change)
    case .setComposition(let change)?:
      try self.apply(change)
      cost += change.composition.sources.count
    case .requestKeyFrame(let request)?: try self.receive(request)
    case .open?:
      throw FieldViolation(code: .failedPrecondition, field: "open", reason: "was sent twice")
    case .frame?, nil:
      guard !message.unknownFields.data.isEmpty else {
        throw FieldViolation(
          field: "kind", reason: "is not set, and the message has no unknown field either")
      }
      self.outcomes.countIgnoredMessage()
    }
    self.rate.take(units: cost, byteCount: received.byteCount)
  }

  /// Waits until the session's rate allows another control message.
  private mutating func waitForRate() async throws {
    while true {
      let delay = self.rate.delay(at: self.engine.clock.now())
      guard delay > .zero else { return }
      await self.engine.clock.wait(delay)
      try Task.checkCancellation()
    }
  }

  /// Waits after frames beyond the client's credits.
  private mutating func waitForExcess() async throws {
    let delay = self.excess.delay(at: self.engine.clock.now())
    guard delay > .zero else { return }
    await self.engine.clock.wait(delay)
    try Task.checkCancellation()
  }

  /// Waits for room in the mailbox if the next frame should not displace the waiting one. Returns
  /// immediately if the waiting frame could expire, or if acknowledgements, which the session
  /// needs, could wait behind frames.
  private func waitForRoom() async throws {
    let options = self.session.options
    guard options.dropPolicy == .newestWins, options.budget == nil, options.outputWindow == nil,
      self.intake.isReceptionSpent
    else { return }
    await self.session.mailbox.waitForRoom()
    try Task.checkCancellation()
  }

  private mutating func apply(_ change: PipelineChange) throws {
    do throws(FieldViolation) {
      let revision = try self.handle.apply(change)
      // Queued before this task reserves places for frames of the revision, so before `applied`.
      self.accept(requestID: change.requestID, revision: revision)
    } catch {
      try self.refuse(requestID: change.requestID, error.within(change.field))
    }
  }

  /// Changes the settings of the output's encoder.
  private mutating func apply(_ change: Sidelight_V1_SetEncoder) throws {
    do throws(FieldViolation) {
      let outputs = self.session.outputs
      let output =
        try outputs.isEmpty && change.output.isEmpty
        ? self.session.output : self.output(named: change.output).encoded
      try output.apply(change, limits: self.engine.admission.frameLimits)
      self.accept(requestID: change.requestID, revision: self.handle.revision)
    } catch {
      try self.refuse(requestID: change.requestID, error.within("set_encoder"))
    }
  }

  /// Changes the composition.
  private mutating func apply(_ change: Sidelight_V1_SetComposition) throws {
    do throws(FieldViolation) {
      guard let current = self.session.composition else {
        throw FieldViolation(
          code: .failedPrecondition, field: "composition",
          reason: "is sent to a session that was opened without one")
      }
      try FieldViolation.within("composition") { () throws(FieldViolation) in
        let composition = try Composition(
          change.composition, of: self.handle.track, limits: self.engine.admission.frameLimits)
        try self.engine.admission.sessions.check(composition, of: self.handle.identity.caller)
        current.value = composition
      }
      self.accept(requestID: change.requestID, revision: self.handle.revision)
    } catch {
      try self.refuse(requestID: change.requestID, error.within("set_composition"))
    }
  }

  private mutating func receive(_ request: Sidelight_V1_RequestKeyFrame) throws {
    guard !request.output.isEmpty else {
      self.session.output.requestKeyFrame()
      for output in self.session.outputs { output.encoded.requestKeyFrame() }
      return
    }
    do throws(FieldViolation) {
      try self.output(named: request.output).encoded.requestKeyFrame()
    } catch {
      try self.refuse(requestID: 0, error.within("request_key_frame"))
    }
  }

  /// Returns a named output.
  ///
  /// - Throws: ``FieldViolation`` with the names of all outputs.
  private func output(named name: String) throws(FieldViolation) -> SessionOutput {
    if let output = self.session.outputs.first(where: { $0.name == name }) { return output }
    let names = self.session.outputs.map { "'\($0.name)'" }.joined(separator: ", ")
    throw FieldViolation(
      field: "output",
      reason: names.isEmpty
        ? "is '\(name.clipped(toBytes: 64))', and the session has no named outputs"
        : "is '\(name.clipped(toBytes: 64))'; it must be one of \(names)",
      info: .init(reason: "UNKNOWN_NAME", value: name.clipped(toBytes: 64), limit: names))
  }

  /// Answers an accepted change.
  private mutating func accept(requestID: UInt64, revision: UInt64) {
    self.outcomes.push(
      .message(
        .with {
          $0.accepted.requestID = requestID
          $0.accepted.revision = revision
        }))
    self.consecutiveErrors = 0
  }

  /// Answers a refused change.
  private mutating func refuse(requestID: UInt64, _ violation: FieldViolation) throws {
    self.outcomes.push(
      .message(
        .with {
          $0.error.requestID = requestID
          $0.error.status = Google_Rpc_Status(violation.status)
        }))
    try self.countError(violation)
  }

  private mutating func receive(_ ack: Sidelight_V1_Ack) throws {
    guard ack.heldSlots.count <= RingLayout.maxSlots else {
      let violation = FieldViolation(
        field: "ack.held_slots",
        reason: "has \(ack.heldSlots.count) entries, the limit is \(RingLayout.maxSlots)",
        info: .outOfRange(ack.heldSlots.count, limit: RingLayout.maxSlots))
      self.outcomes.push(.message(.with { $0.error.status = Google_Rpc_Status(violation.status) }))
      return try self.countError(violation)
    }
    guard ack.output.isEmpty else {
      do throws(FieldViolation) {
        try self.output(named: ack.output).outcomes.acknowledge(ack.sequence)
      } catch {
        try self.refuse(requestID: 0, error.within("ack"))
      }
      return
    }
    self.session.ring?.acknowledge(ack)
    self.outcomes.acknowledge(ack.sequence)
  }

  private func answer(_ ping: Sidelight_V1_Ping) {
    let received = self.engine.clock.nanosecondsSince1970()
    self.outcomes.push(
      .message(
        .with {
          $0.pong.id = ping.id
          $0.pong.clientTimeNs = ping.clientTimeNs
          $0.pong.serverReceivedNs = Int64(clamping: received)
        }))
  }

  // MARK: Errors

  /// Counts an error, and ends a session that sends only errors.
  private mutating func countError(_ violation: FieldViolation) throws {
    self.consecutiveErrors += 1
    let limit = self.engine.admission.maxConsecutiveErrors
    if self.consecutiveErrors > limit {
      throw GoogleRPCStatus.tooManyErrors(limit: limit, last: violation)
    }
  }

  /// Ends a session that sends only files that cannot be decoded.
  private func checkDecodingErrors() throws {
    let limit = self.engine.admission.maxConsecutiveErrors
    if let violation = self.session.resolver.decodingErrors.last(ifMoreThan: limit) {
      throw GoogleRPCStatus.tooManyErrors(limit: limit, last: violation)
    }
  }

  // MARK: Frames

  /// Checks a frame, then offers it to the mailbox, sends it back, or drops it.
  private mutating func receive(
    _ message: Sidelight_V1_Frame, _ pixels: PixelBuffer?
  ) async throws {
    let received = self.engine.clock.now()
    let byteCount = self.pictures.byteCount(of: message.image, pixels)
    let span = self.engine.observability.tracing.startFrame(
      message, byteCount: byteCount, in: self.session)
    let reservation = self.outcomes.reserve(sequence: message.sequence, byteCount: byteCount)
    let pause = self.handle.pause
    let isVideo = PictureCoding(message.image.format)?.codec != nil
    // A file is copied out of its slot only if the frame is accepted.
    let isFileInSlot = pixels == nil && message.image.format.isCompressed && !isVideo
    let picture: IncomingPicture
    do throws(FieldViolation) {
      try self.intake.admission.checkSequence(of: message)
      let slot =
        pixels == nil
        ? try self.pictures.takeSlot(of: message.image, for: reservation.arrival) : nil
      if let slot, isFileInSlot,
        let reason = await self.intake.admission.refusal(
          of: message, byteCount: byteCount, hasCredit: reservation.hasCredit, pause: pause,
          at: received)
      {
        withExtendedLifetime(slot) {}
        // A refused frame ends a row of errors.
        self.consecutiveErrors = 0
        return self.drop(reservation, span, reason, byteCount)
      }
      let contents = await self.pictures.contents(of: slot, message.image)
      try self.intake.admission.checkTags(of: message)
      guard let checked = try self.pictures.picture(of: message, pixels ?? contents) else {
        self.session.resolver.drop(
          reservation, span, Drop(reason: .notDecodable, stage: .arrival))
        return await self.intake.leaveOut(message.sequence, self.pictures.missing)
      }
      picture = checked
      self.consecutiveErrors = 0
      // Whether a file is valid shows only when the worker decodes it.
      if case .frame = picture { self.session.resolver.decodingErrors.reset() }
    } catch {
      self.session.resolver.drop(
        reservation, span,
        Drop(reason: .invalidFrame, stage: .arrival, diagnostic: error.status))
      if isVideo { await self.intake.leaveOut(message.sequence, .damage) }
      return try self.countError(error)
    }
    let video: EncodedPicture? = if case .video(let picture) = picture { picture } else { nil }
    self.handle.recordGeometry(picture.form.geometry)
    let active = self.handle.activePipeline(for: message, received: received)
    if !isFileInSlot,
      let reason = await self.intake.admission.refusal(
        of: message, byteCount: video?.decodedByteCount ?? byteCount,
        hasCredit: reservation.hasCredit, pause: pause, isDecodedFirst: isVideo, at: received)
    {
      // Later frames depend on it. If it waits for the decoder, so does the client.
      if let video, reason == .noCredit, !video.header.isDisposable,
        await self.session.rateLimiter.takeFrame(of: video.decodedByteCount, waiting: false)
      {
        self.excess.take(byteCount: byteCount)
        return try await self.intake.accept(
          message, picture, active, reservation, span, refusal: reason, pause: pause,
          received: received)
      }
      self.drop(reservation, span, reason, byteCount)
      if let video {
        await self.intake.leaveOut(
          message.sequence, video.header.isDisposable ? nil : reason == .paused ? .start : .loss)
      }
      return
    }
    try await self.intake.accept(
      message, picture, active, reservation, span, pause: pause, received: received)
  }

  private mutating func drop(
    _ reservation: Session.FrameOutcomeQueue.Reservation, _ span: FrameSpan, _ reason: DropReason,
    _ byteCount: Int
  ) {
    if reason == .noCredit { self.excess.take(byteCount: byteCount) }
    self.session.resolver.drop(reservation, span, Drop(reason: reason, stage: .arrival))
  }
}

/// The messages of one client, in order. The service reads the first, the session's reader the
/// rest.
final class ClientMessages: @unchecked Sendable {  // one task reads at a time
  private var iterator:
    RPCAsyncSequence<ReceivedMessage<Sidelight_V1_ClientMessage>, any Error>.AsyncIterator

  init(_ messages: RPCAsyncSequence<ReceivedMessage<Sidelight_V1_ClientMessage>, any Error>) {
    self.iterator = messages.makeAsyncIterator()
  }

  /// Returns the next message, or `nil` once the client has closed its side.
  func next() async throws -> ReceivedMessage<Sidelight_V1_ClientMessage>? {
    try await self.iterator.next()
  }
}
