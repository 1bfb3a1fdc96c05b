import GRPCCore
import GRPCProtobuf
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// Reads a client's messages: frames go to the mailbox, changes make selections, faults are answered.
struct SessionReader {
  let session: Session
  private var selection: Selection
  private var lastSequence: UInt64?
  private var faultsInARow = 0

  init(session: Session) {
    self.session = session
    self.selection = session.firstSelection
  }

  private var engine: Engine { self.session.engine }
  private var outbox: Session.FrameOutbox { self.session.outbox }

  mutating func run(_ messages: ClientMessages) async throws {
    while let message = try await messages.next() {
      // A client that neither reads nor stops talking is held back here.
      await self.outbox.waitForRoom()
      switch message.kind {
      case .frame(let frame)?: try await self.receive(frame)
      case .select(let select)?: try self.receive(select)
      case .ping(let ping)?: self.answer(ping)
      case .open?:
        throw RPCError(code: .failedPrecondition, message: "open was sent twice.")
      case .ack?: self.outbox.countIgnoredMessage()
      case .update(let update)?: try self.refuse("update", requestID: update.requestID)
      case .activate(let activate)?: try self.refuse("activate", requestID: activate.requestID)
      case .pause?: try self.refuse("pause", requestID: 0)
      case .resume?: try self.refuse("resume", requestID: 0)
      case nil:
        guard !message.unknownFields.data.isEmpty else {
          throw RPCError(code: .invalidArgument, message: "A message of no kind was sent.")
        }
        self.outbox.countIgnoredMessage()
      }
    }
  }

  // MARK: Frames

  private mutating func receive(_ message: Sidelight_V1_Frame) async throws {
    let received = self.engine.clock.now()
    let span = self.engine.tracing.startFrame(message, in: self.session)
    let arrival = self.outbox.reserve(
      sequence: message.sequence, byteCount: message.image.inline.count)
    let frame: IncomingFrame
    do throws(FieldFault) {
      frame = IncomingFrame(
        arrival: arrival, message: message, geometry: try self.check(message),
        selection: self.selection, received: received, span: span)
      self.faultsInARow = 0
    } catch {
      self.drop(arrival, span, .invalidFrame, at: .arrival, diagnostic: error.status)
      try self.countFault(error)
      return
    }
    guard let displaced = await self.session.mailbox.offer(frame) else { return }
    let reason: DropReason =
      switch self.session.options.dropPolicy {
      case .newestWins where displaced.arrival != arrival: .superseded
      case .keepOldest: .queueFull
      case .newestWins, .neverDrop: .draining  // the mailbox has closed
      }
    self.drop(displaced.arrival, displaced.span, reason, at: .mailbox)
  }

  private mutating func check(_ frame: Sidelight_V1_Frame) throws(FieldFault) -> FrameGeometry {
    if let last = self.lastSequence, frame.sequence <= last {
      throw FieldFault(
        field: "frame.sequence", reason: "is \(frame.sequence), after \(last) it must be greater")
    }
    self.lastSequence = frame.sequence
    guard frame.budgetUs == 0, !frame.mustProcess else {
      throw FieldFault(
        code: .unimplemented, field: frame.mustProcess ? "frame.must_process" : "frame.budget_us",
        reason: "this server does not offer it yet; see features in GetServerInfo")
    }
    let tagBytes = frame.tags.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    guard frame.tags.count <= 16, tagBytes <= 1024 else {
      throw FieldFault(
        field: "frame.tags",
        reason: "has \(frame.tags.count) entries of \(tagBytes) bytes, the limits are 16 and 1024")
    }
    do throws(FieldFault) {
      let layout = try frame.image.rawLayout(limits: self.engine.frameLimits)
      _ = try Orientation(frame.image.orientation)
      return FrameGeometry(
        format: layout.format, size: layout.size, color: ColorDescription(frame.image.color))
    } catch {
      throw error.within("frame.image")
    }
  }

  private func drop(
    _ arrival: UInt64, _ span: FrameSpan, _ reason: DropReason, at stage: DropStage,
    diagnostic: GoogleRPCStatus? = nil
  ) {
    let drop = Drop(reason: reason, stage: stage, diagnostic: diagnostic)
    span.end(dropped: drop)
    self.outbox.resolve(arrival, dropped: drop)
  }

  // MARK: Control

  private mutating func receive(_ select: Sidelight_V1_Select) throws {
    do throws(FieldFault) {
      self.selection = try self.select(select)
      self.faultsInARow = 0
    } catch {
      try self.answer(error, requestID: select.requestID)
    }
  }

  private func select(_ select: Sidelight_V1_Select) throws(FieldFault) -> Selection {
    let current = self.selection.revision.number
    if select.hasIfRevision, select.ifRevision != current {
      throw FieldFault(
        code: .aborted, field: "select.if_revision",
        reason: "is \(select.ifRevision), in force is \(current)")
    }
    let resolved: ResolvedPipeline
    do {
      resolved = try self.engine.catalogue.resolve(try Pipeline(select.pipeline))
    } catch let error as PipelineError {
      throw FieldFault(error).within("select.pipeline")
    } catch let error as FieldFault {
      throw error.within("select.pipeline")
    } catch {
      throw FieldFault(code: .internalError, field: "select.pipeline", reason: "\(error)")
    }
    return Selection(
      pipeline: resolved, revision: Revision(number: current + 1, requestID: select.requestID))
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

  private mutating func refuse(_ kind: String, requestID: UInt64) throws {
    try self.answer(
      FieldFault(
        code: .unimplemented, field: kind,
        reason: "this server does not offer it; see features in GetServerInfo"),
      requestID: requestID)
  }

  private mutating func answer(_ fault: FieldFault, requestID: UInt64) throws {
    self.outbox.push(
      .with {
        $0.error.requestID = requestID
        $0.error.status = Google_Rpc_Status(fault.status)
      })
    try self.countFault(fault)
  }

  /// A client that sends nothing but faults is broken; answering it for ever helps nobody.
  private mutating func countFault(_ fault: FieldFault) throws {
    self.faultsInARow += 1
    let limit = self.engine.maxConsecutiveErrors
    guard self.faultsInARow > limit else { return }
    throw RPCError(
      code: .invalidArgument,
      message: "More than \(limit) faults in a row; the last was \(fault.field): \(fault.reason)")
  }
}
