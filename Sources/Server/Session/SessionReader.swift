import GRPCCore
import GRPCProtobuf
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf

/// Reads a client's messages: frames go to the mailbox, changes to the desk, faults are answered.
struct SessionReader: ~Copyable {
  let session: Session
  /// What selections come to.
  var programs: ProgramShelf
  /// Keeps the frame rate that the client asked for.
  var decimator: FrameDecimator?
  var analyses = AnalysisSchedule()
  /// That of the last frame.
  var lastSequence: UInt64?
  /// Faults since something was last found sound.
  var faultsInARow = 0
  private var rate: ControlRate

  init(session: Session) {
    self.session = session
    self.programs = ProgramShelf(
      engine: session.engine, output: session.options.output,
      allowsReduced: session.options.allowDegraded)
    self.decimator = session.options.maxFPS.map(FrameDecimator.init(framesPerSecond:))
    self.rate = ControlRate(at: session.engine.clock.now())
  }

  var engine: Engine { self.session.engine }
  var outbox: Session.FrameOutbox { self.session.outbox }
  var handle: SessionHandle { self.session.handle }

  /// Reads until the client has closed its side.
  ///
  /// - Throws: `CancellationError` as soon as the call is cancelled, however much the client has sent
  ///   that was not read; ``FieldFault`` when the client breaks the order of messages.
  mutating func run(_ messages: ClientMessages) async throws {
    while let received = try await messages.next() {
      // A client that neither reads nor stops talking is held back here. Waiting ends at once when the
      // task is cancelled, and messages that have arrived are delivered all the same.
      await self.outbox.waitForRoom()
      try Task.checkCancellation()
      if let advice = self.session.quality.takeAdvice() {
        self.outbox.push(.message(.with { $0.advice = advice }))
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
      self.outbox.countIgnoredMessage()
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
    self.outbox.push(
      .message(
        .with {
          $0.pong.id = ping.id
          $0.pong.clientTimeNs = ping.clientTimeNs
          $0.pong.serverReceivedNs = Int64(clamping: received)
        }))
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
