import AsyncAlgorithms
import GRPCCore
import Logging
import ServiceLifecycle
import SidelightKernels
import SidelightWire
import SwiftProtobuf
import Tracing

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
  /// The parent of frames that bring no trace context of their own.
  let callContext: ServiceContext

  init(
    id: String, options: SessionOptions, engine: Engine, callContext: ServiceContext
  ) throws(FieldFault) {
    self.id = id
    self.options = options
    self.engine = engine
    self.callContext = callContext
    self.mailbox = Mailbox(depth: options.mailboxDepth, policy: options.dropPolicy)
    // Whatever may wait to be filtered may wait to be written.
    self.outbox = Outbox(pictureLimit: options.mailboxDepth + 1)
    do throws(PipelineError) {
      self.firstSelection = Selection(
        pipeline: try engine.catalogue.resolve(options.pipeline),
        revision: Revision(number: 1, requestID: 0))
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
    self.outbox.push(self.opened)
    try await withGracefulShutdownHandler {
      try await self.runTasks(messages: messages, writer: writer, cancellation: cancellation)
    } onGracefulShutdown: {
      // Reading goes on, for whoever stops reading closes the stream: what still comes finds the
      // mailbox closed, and ends as DRAINING.
      self.outbox.push(Self.draining)
      self.mailbox.finish()
    }
    if Task.isShuttingDownGracefully {
      throw RPCError(code: .unavailable, message: "The server is shutting down.")
    }
  }

  private func runTasks(
    messages: ClientMessages, writer: RPCWriter<Sidelight_V1_ServerMessage>,
    cancellation: ServerContext.RPCCancellationHandle
  ) async throws {
    enum Part {
      case reader
      case lane
      case writer
      case helper
    }
    try await withThrowingTaskGroup(of: Part.self) { group in
      group.addTask {
        var reader = SessionReader(session: self)
        try await reader.run(messages)
        return .reader
      }
      group.addTask(executorPreference: self.engine.compute) {
        await SessionLane(session: self).run()
        return .lane
      }
      group.addTask {
        try await SessionWriter(session: self).run(writer)
        return .writer
      }
      group.addTask {
        // Tells of a client that is gone and of a deadline that has passed, which cancel nothing by
        // themselves; and of a shutdown, in which sessions finish.
        try await cancellation.cancelled
        guard Task.isShuttingDownGracefully else {
          throw RPCError(
            code: .cancelled, message: "The call was cancelled, or came to its deadline.")
        }
        return .helper
      }
      if let interval = self.options.statsInterval {
        group.addTask {
          for await _ in AsyncTimerSequence.repeating(every: interval) {
            self.outbox.pushCounts { counts in
              .with { $0.stats = Sidelight_V1_Stats(counts, isFinal: false) }
            }
          }
          return .helper
        }
      }
      while let part = try await group.next() {
        switch part {
        case .reader: self.mailbox.finish()
        case .lane: self.outbox.finish()
        case .writer:
          group.cancelAll()
          return
        case .helper: break
        }
      }
    }
  }

  private static let draining = Sidelight_V1_ServerMessage.with {
    $0.state.state = .draining
    $0.state.message = "The server is shutting down; open a session elsewhere."
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
