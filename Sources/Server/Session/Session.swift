import GRPCCore
import Logging
import ServiceLifecycle
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// One participant's track: frames come in, each ends exactly once, in order.
///
/// Three tasks share the work. The reader always reads: it checks messages, keeps the selection, and
/// offers frames to the mailbox. The lane takes them out and filters them, on the compute pool. The
/// writer sends what the outbox puts in order. When the client goes, or one of them fails, all end.
struct Session: Sendable {
  typealias FrameMailbox = Mailbox<IncomingFrame>
  typealias FrameOutbox = Outbox<OutgoingFrame, Sidelight_V1_ServerMessage>

  let id: String
  let options: SessionOptions
  let engine: Engine
  let mailbox: FrameMailbox
  let outbox: FrameOutbox
  let firstSelection: Selection

  init(id: String, options: SessionOptions, engine: Engine) throws(FieldFault) {
    self.id = id
    self.options = options
    self.engine = engine
    self.mailbox = Mailbox(depth: options.mailboxDepth, policy: options.dropPolicy)
    self.outbox = Outbox(pictureLimit: 2)
    do throws(PipelineError) {
      self.firstSelection = Selection(
        try engine.catalogue.resolve(options.pipeline), revision: Revision(number: 1, requestID: 0))
    } catch {
      throw FieldFault(error).within("open.pipeline")
    }
  }

  /// Serves the session until the client has closed its side and every frame has its outcome.
  ///
  /// - Throws: `RPCError` when the client breaks the order of messages or sends only faults, when the
  ///   server shuts down (UNAVAILABLE), or when the connection is lost.
  func run(
    messages: ClientMessages, writer: RPCWriter<Sidelight_V1_ServerMessage>,
    cancellation: ServerContext.RPCCancellationHandle
  ) async throws {
    enum Part {
      case reader(SessionReader.End)
      case lane
      case writer
    }
    var end = SessionReader.End.clientClosed
    self.outbox.push(self.opened)
    try await withThrowingTaskGroup(of: Part.self) { group in
      group.addTask { .reader(try await self.readUntilEnd(messages)) }
      group.addTask(executorPreference: self.engine.compute) {
        await SessionLane(session: self).run()
        return .lane
      }
      group.addTask {
        try await SessionWriter(session: self).run(writer)
        return .writer
      }
      group.addTask {
        // The transport tells of a client that is gone through this handle alone.
        try await cancellation.cancelled
        throw CancellationError()
      }
      while let part = try await group.next() {
        switch part {
        case .reader(let reason):
          end = reason
          self.mailbox.finish()
        case .lane:
          self.outbox.finish()
        case .writer:
          group.cancelAll()
          return
        }
      }
    }
    if case .draining = end {
      throw RPCError(code: .unavailable, message: "The server is shutting down.")
    }
  }

  /// Reads until the client closes its side or the server begins to shut down.
  private func readUntilEnd(_ messages: ClientMessages) async throws -> SessionReader.End {
    try await withThrowingTaskGroup(of: SessionReader.End.self) { group in
      group.addTask {
        var reader = SessionReader(session: self)
        try await reader.run(messages)
        return .clientClosed
      }
      group.addTask {
        try await gracefulShutdown()
        self.outbox.push(
          .with {
            $0.state.state = .draining
            $0.state.message = "The server is shutting down; open a session elsewhere."
          })
        return .draining
      }
      defer { group.cancelAll() }
      return try await group.next() ?? .clientClosed
    }
  }

  private var opened: Sidelight_V1_ServerMessage {
    .with {
      $0.opened.sessionID = self.id
      $0.opened.framesInFlight = UInt32(self.engine.framesInFlight)
      $0.opened.revision = self.firstSelection.revision.number
      $0.opened.limits = self.engine.limits
      $0.opened.mailboxDepth = UInt32(self.options.mailboxDepth)
      $0.opened.dropPolicy =
        switch self.options.dropPolicy {
        case .newestWins: .newestWins
        case .keepOldest: .keepOldest
        case .neverDrop: .neverDrop
        }
    }
  }
}
