import GRPCCore
import GRPCProtobuf
import ServiceLifecycle
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// Reads a client's messages: frames go to the mailbox, changes to the desk, faults are answered.
struct SessionReader: ~Copyable {
  let session: Session
  /// What selections come to.
  var compiledPipelines: CompiledPipelineCache
  /// Keeps the frame rate that the client asked for.
  var decimator: FrameDecimator?
  var analyses = AnalysisSchedule()
  /// That of the last frame.
  var lastSequence: UInt64?
  /// Faults since something was last found sound.
  var consecutiveErrors = 0
  private var rate: ControlRate

  init(session: Session) {
    self.session = session
    self.compiledPipelines = CompiledPipelineCache(
      engine: session.engine, output: session.options.output,
      allowsReduced: session.options.allowDegraded)
    self.decimator = session.options.maxFPS.map(FrameDecimator.init(framesPerSecond:))
    self.rate = ControlRate(at: session.engine.clock.now())
  }

  var engine: Engine { self.session.engine }
  var outcomes: Session.FrameOutcomeQueue { self.session.outcomes }
  var handle: SessionHandle { self.session.handle }

  /// Reads until the client has closed its side.
  ///
  /// - Throws: `CancellationError` as soon as the call is cancelled, however much the client has sent
  ///   that was not read; ``FieldFault`` when the client breaks the order of messages.
  mutating func run(_ messages: ClientMessages) async throws {
    while let received = try await messages.next() {
      // A client that neither reads nor stops talking is held back here. Waiting ends at once when the
      // task is cancelled, and messages that have arrived are delivered all the same.
      await self.outcomes.waitForCapacity()
      try Task.checkCancellation()
      if let advice = self.session.quality.takeAdvice() {
        self.outcomes.push(.message(.with { $0.advice = advice }))
      }
      try self.checkFiles()
      if case .frame(let frame)? = received.message.kind {
        self.rate.countFrame()
        try await self.receive(frame, received.pixels)
      } else {
        try await self.handle(received)
      }
    }
  }

  /// Handles a message that is no frame, when the session's rate allows it.
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
      try self.receive(select)
      cost += self.handle.stageCount
    case .update(let update)?:
      try self.receive(update)
      cost += self.handle.stageCount
    case .activate(let activate)?:
      try self.receive(activate)
      cost += self.handle.stageCount
    case .pause(let pause)?:
      self.handle.setPause(pause.passThrough ? .passing : .dropping)
      cost += self.handle.stageCount
    case .resume?:
      self.handle.setPause(.running)
      cost += self.handle.stageCount
    case .ping(let ping)?: self.answer(ping)
    case .open?:
      throw FieldFault(code: .failedPrecondition, field: "open", reason: "was sent twice")
    case .frame?, nil:
      guard !message.unknownFields.data.isEmpty else {
        throw FieldFault(
          field: "kind", reason: "is not set, and no field that is unknown is either")
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

  /// A client that sends nothing but faults is broken; answering it for ever helps nobody.
  mutating func countError(_ fault: FieldFault) throws {
    self.consecutiveErrors += 1
    let limit = self.engine.maxConsecutiveErrors
    if self.consecutiveErrors > limit {
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

/// The messages of one client, in order. The first is read before the session stands, the rest by the
/// session's reader.
final class ClientMessages: @unchecked Sendable {  // one task reads at a time
  private var iterator:
    RPCAsyncSequence<ReceivedMessage<Sidelight_V1_ClientMessage>, any Error>.AsyncIterator

  init(_ messages: RPCAsyncSequence<ReceivedMessage<Sidelight_V1_ClientMessage>, any Error>) {
    self.iterator = messages.makeAsyncIterator()
  }

  /// The next message; `nil` once the client has closed its side.
  func next() async throws -> ReceivedMessage<Sidelight_V1_ClientMessage>? {
    try await self.iterator.next()
  }
}

/// What a reader does with changes of the selection.
extension SessionReader {
  /// The client wants another pipeline.
  mutating func receive(_ select: Sidelight_V1_Select) throws {
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

  /// The client changes parameters of stages.
  mutating func receive(_ update: Sidelight_V1_Update) throws {
    try self.change(
      "update", ifRevision: update.hasIfRevision ? update.ifRevision : nil,
      requestID: update.requestID
    ) { pipeline throws(FieldFault) in
      try ContractLimits.check(
        count: update.stages.count, atMost: Pipeline.maxStages, field: "stages")
      for (index, stage) in update.stages.enumerated() {
        do throws(FieldFault) {
          try pipeline.apply(stage)
        } catch {
          throw error.within("stages[\(index)]")
        }
      }
    }
  }

  /// The client turns stages on and off.
  mutating func receive(_ activate: Sidelight_V1_Activate) throws {
    try self.change(
      "activate", ifRevision: activate.hasIfRevision ? activate.ifRevision : nil,
      requestID: activate.requestID
    ) { pipeline throws(FieldFault) in
      try ContractLimits.check(
        count: activate.stages.count, atMost: Pipeline.maxStages, field: "stages")
      for (name, isActive) in activate.stages {
        do throws(PipelineError) {
          try pipeline.setActive(isActive, stage: name)
        } catch {
          throw FieldFault(field: "stages[\"\(name.clipped(toBytes: 64))\"]", reason: "\(error)")
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
      self.consecutiveErrors = 0
    } catch {
      let fault = error.within(kind)
      self.outcomes.push(
        .message(
          .with {
            $0.error.requestID = requestID
            $0.error.status = Google_Rpc_Status(fault.status)
          }))
      try self.countError(fault)
    }
  }
}

extension Pipeline {
  /// Changes the parameters that a message names.
  fileprivate mutating func apply(
    _ update: Sidelight_V1_Update.StageParameters
  ) throws(FieldFault) {
    try ContractLimits.check(
      count: update.parameters.count, atMost: Self.maxParameters, field: "parameters")
    var parameters: [String: ParameterValue] = [:]
    for (name, value) in update.parameters {
      do throws(FieldFault) {
        parameters[name] = try ParameterValue(value)
      } catch {
        throw error.within("parameters[\"\(name.clipped(toBytes: 64))\"]")
      }
    }
    do throws(PipelineError) {
      try self.setParameters(parameters, stage: update.stage)
    } catch {
      throw FieldFault(error)
    }
  }
}

/// What a reader does with frames.
extension SessionReader {
  /// Checks a frame and finds its place: in the mailbox, back where it came from, or nowhere.
  mutating func receive(
    _ message: Sidelight_V1_Frame, _ pixels: PixelBuffer?
  ) async throws {
    let received = self.engine.clock.now()
    let byteCount = pixels?.byteCount ?? self.session.ring?.byteCount(of: message.image) ?? 0
    let span = self.engine.tracing.startFrame(message, byteCount: byteCount, in: self.session)
    let reservation = self.outcomes.reserve(sequence: message.sequence, byteCount: byteCount)
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
      self.consecutiveErrors = 0
      // Whether a file is sound is known only when it has been decoded.
      if case .frame = picture { self.session.unreadable.reset() }
    } catch {
      self.drop(
        reservation, span, Drop(reason: .invalidFrame, stage: .arrival, diagnostic: error.status))
      return try self.countError(error)
    }
    self.handle.recordGeometry(picture.form.geometry)
    let selection = self.handle.selection(at: received)
    let isAdmitted = pixels == nil && message.image.format.isFile
    if !isAdmitted,
      let reason = await self.refusal(
        of: message, byteCount, reservation, pause: pause, at: received)
    {
      return self.drop(reservation, span, Drop(reason: reason, stage: .arrival))
    }
    let compiledPipeline = await self.compiledPipelines.compiledPipeline(for: selection, picture.form)
    // What an operator forced holds for frames that a pause would let pass.
    let passes =
      self.session.options.analysisOnly || (pause == .passing && !selection.isOverride)
    var frame = IncomingFrame(
      arrival: reservation.arrival, message: message, picture: picture, selection: selection,
      compiledPipeline: passes ? nil : compiledPipeline, received: received,
      deadline: self.deadline(of: message, received: received), span: span)
    let due = self.analyses.due(
      among: compiledPipeline.plan.analyses, isReduced: self.session.quality.isReduced)
    if !due.isEmpty {
      try await self.show(&frame, to: due, stages: compiledPipeline.plan.analyses.map(\.stage))
    }
    guard self.hasTime(for: frame) else {
      return self.drop(reservation, span, Drop(reason: .lateOnArrival, stage: .arrival))
    }
    guard !self.isFree(frame) else {
      return SessionWorker(session: self.session).passThrough(frame, started: received)
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
    let analyzers = self.session.analyzers
    // What is in a slot is copied to be looked at later. Not in vain: the copy waits for a compute thread,
    // and the frame for the copy.
    guard !frame.isInPlace || analyzers.isFree(for: analyses) else {
      return self.analyses.postpone(analyses)
    }
    let picture = try await self.pictureToKeep(of: frame)
    // Whoever holds this is expected to decode; so the lane's frame does, and the others' do not.
    let watched = frame
    if case .file = picture, let compiledPipeline = frame.compiledPipeline, !compiledPipeline.changesNothing {
      frame.samples = SharedSamples.Source()
    }
    analyzers.begin(frame.arrival)
    let displaced = await self.session.analysisJobs.offer(
      AnalysisJob(
        frame: watched, picture: picture, samples: frame.samples?.samples, analyses: analyses,
        stages: stages))
    if let displaced { analyzers.end(displaced.element.frame.arrival) }
  }

  /// Whether a frame comes back with so little work that it would only be delayed by changing threads
  /// for it. Its outcome still stands in the order of arrival.
  private func isFree(_ frame: IncomingFrame) -> Bool {
    let options = self.session.options
    guard frame.compiledPipeline?.changesNothing != false, !Task.isShuttingDownGracefully,
      // The lane may count on the room that it found for what it makes.
      self.session.mailbox.isConsumerWaiting,
      options.dropPolicy == .newestWins || self.outcomes.hasPictureCapacity
    else { return false }
    return options.allowUnmodified || options.analysisOnly || frame.message.image.isInSlot
      || frame.picture.bytes.transportBytes != nil
      || frame.picture.bytes.byteCount <= Self.smallPicture
  }

  /// Bytes that are copied in the time that it takes to wake another thread.
  private static let smallPicture = 64 << 10

  /// Why a sound frame has no place in the mailbox, if it has none.
  private mutating func refusal(
    of message: Sidelight_V1_Frame, _ byteCount: Int,
    _ reservation: Session.FrameOutcomeQueue.Reservation,
    pause: PipelineState.Pause, at received: Duration
  ) async -> DropReason? {
    if pause == .dropping { return .paused }
    // Whoever may not lose a frame is held back instead.
    if !reservation.hasCredit, self.session.options.dropPolicy != .neverDrop { return .noCredit }
    if !message.mustProcess, self.decimator?.admits(at: received) == false { return .rateLimited }
    // What the operator allows the caller holds for every frame.
    let mayWait = self.session.options.dropPolicy == .neverDrop
    let isAllowed = await self.session.rateLimiter.takeFrame(of: byteCount, waiting: mayWait)
    return isAllowed ? nil : .rateLimited
  }

  private func deadline(of message: Sidelight_V1_Frame, received: Duration) -> Duration? {
    guard !message.mustProcess, self.session.options.dropPolicy != .neverDrop else { return nil }
    guard message.hasBudgetUs else { return self.session.options.budget.map { received + $0 } }
    return message.budgetUs == 0 ? nil : received + .microseconds(message.budgetUs)
  }

  /// Whether the work that is expected fits into the frame's budget.
  private func hasTime(for frame: IncomingFrame) -> Bool {
    guard let compiledPipeline = frame.compiledPipeline, !compiledPipeline.changesNothing else { return true }
    guard let expected = compiledPipeline.cost.expected else { return true }
    self.engine.scheduler.recordArrival(work: compiledPipeline.cost.work ?? expected, session: self.handle.number)
    let cheapest = compiledPipeline.reduced?.cost.expected.map { min($0, expected) } ?? expected
    guard let deadline = frame.deadline, frame.received + cheapest > deadline else { return true }
    compiledPipeline.cost.recordRefusal()
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
    _ reservation: Session.FrameOutcomeQueue.Reservation, _ span: FrameSpan, _ drop: Drop
  ) {
    span.end(dropped: drop)
    self.session.resolve(reservation.arrival, dropped: drop)
  }
}

/// What a reader does with shared memory.
extension SessionReader {
  /// The pixels of an image in an input slot, which is the frame's from now on.
  ///
  /// - Parameter arrival: The frame's.
  /// - Returns: `nil` if the image is in no slot, or there is no ring.
  /// - Throws: ``FieldFault`` if the client may not name that slot, or that many bytes of it.
  func takeSlot(
    of image: Sidelight_V1_Image, for arrival: UInt64
  ) throws(FieldFault) -> PixelBuffer? {
    guard case .sharedMemory(let reference)? = image.pixels, let ring = self.session.ring else {
      return nil
    }
    let pixels: PixelBuffer
    do throws(FieldFault) {
      pixels = try ring.take(reference, for: arrival)
    } catch {
      throw error.within("frame.image")
    }
    guard image.format.isFile else { return pixels }
    // A parser looks twice, and must see the same each time.
    let limit = self.engine.frameLimits.maxBytes
    guard pixels.byteCount <= limit else {
      throw FieldFault(
        field: "frame.image.shared_memory.length",
        reason: "is \(pixels.byteCount), the limit of a file is \(limit)")
    }
    return pixels
  }

  /// What a slot holds, where it does not change any more: of a file a copy, made on a compute thread.
  func contents(of slot: PixelBuffer?, _ image: Sidelight_V1_Image) async -> PixelBuffer? {
    guard let slot, image.format.isFile else { return slot }
    let pool = self.engine.pool
    return await withTaskExecutorPreference(self.engine.compute) {
      await Self.copy(slot, pool)
    }
  }

  @concurrent
  private static func copy(_ slot: PixelBuffer, _ pool: BufferPool) async -> PixelBuffer {
    slot.copy(in: pool)
  }

  /// A frame's picture for whoever looks at it after the frame's fate is told: what is in a slot is then
  /// the client's again, and is copied.
  ///
  /// - Throws: `CancellationError`.
  func pictureToKeep(of frame: IncomingFrame) async throws -> IncomingPicture {
    guard frame.isInPlace, case .frame(let picture) = frame.picture else { return frame.picture }
    return try await withTaskExecutorPreference(self.engine.compute) {
      try Task.checkCancellation()
      return .frame(picture.copy(in: self.engine.pool))
    }
  }

  /// The client has consumed pictures.
  mutating func receive(_ ack: Sidelight_V1_Ack) throws {
    guard ack.heldSlots.count <= RingLayout.maxSlots else {
      let fault = FieldFault(
        field: "ack.held_slots",
        reason: "has \(ack.heldSlots.count) entries, the limit is \(RingLayout.maxSlots)")
      self.outcomes.push(.message(.with { $0.error.status = Google_Rpc_Status(fault.status) }))
      return try self.countError(fault)
    }
    self.session.ring?.acknowledge(ack)
    self.outcomes.acknowledge(ack.sequence)
  }
}
