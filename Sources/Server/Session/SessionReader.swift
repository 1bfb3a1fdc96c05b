import GRPCCore
import GRPCProtobuf
import SidelightKernels
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

  init(session: Session) {
    self.session = session
    self.programs = ProgramShelf(
      engine: session.engine, output: session.options.output,
      allowsReduced: session.options.allowDegraded)
    self.decimator = session.options.maxFPS.map(FrameDecimator.init(framesPerSecond:))
  }

  var engine: Engine { self.session.engine }
  var outbox: Session.FrameOutbox { self.session.outbox }
  var handle: SessionHandle { self.session.handle }

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
