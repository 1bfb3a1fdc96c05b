import GRPCCore
import GRPCProtobuf
import ServiceLifecycle
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Synchronization
import Tracing

/// One participant's track: frames come in, each ends exactly once, in order.
///
/// Four tasks share the work. The reader always reads: it checks messages and offers frames to the
/// mailbox. When the scheduler says so the lane takes one out and filters it, on the compute pool.
/// The analysis lane looks at some of them beside that. The writer sends what the outbox puts in
/// order; a helper keeps the time for what is to be told later. When the client goes, or one of them fails, all end.
struct Session: Sendable {
  typealias FrameMailbox = Mailbox<IncomingFrame>
  typealias FrameOutbox = Outbox<OutgoingFrame, OutgoingNotice>

  let handle: SessionHandle
  let options: SessionOptions
  let engine: Engine
  /// For work of the session's that may outlive it.
  private let account: SchedulerAccount
  let mailbox: FrameMailbox
  let outbox: FrameOutbox
  /// What the caller may send.
  let allowance: CallerAllowance
  /// What the analysis lane is to look at next; the newest wins.
  let analysisJobs = Mailbox<AnalysisJob>()
  let analysisDesk = AnalysisDesk()
  let quality: SessionQuality
  /// Files that could not be decoded, though their headers were sound: the lane counts them.
  let unreadable = FaultCount()
  /// Where pixels are exchanged in shared memory; `nil`: they come and go inline.
  let ring: SessionRing?
  /// The answer to a client that asked for a ring.
  private let ringGrant: Result<SharedMemoryBroker.Grant, FieldFault>?
  /// The parent of frames that bring no trace context of their own.
  let callContext: ServiceContext

  /// - Parameters:
  ///   - number: For the scheduler.
  ///   - caller: Whose it is.
  ///   - catalogue: The filters, with the assets that the caller's pipelines may name.
  /// - Throws: ``FieldFault`` if the first pipeline cannot be, or the resume token is not good.
  init(
    number: UInt64, caller: Caller, options: SessionOptions, catalogue: FilterCatalogue,
    engine: Engine, callContext: ServiceContext
  ) throws(FieldFault) {
    self.options = options
    self.engine = engine
    self.account = SchedulerAccount(number: number, scheduler: engine.scheduler)
    self.allowance = engine.quotas.allowance(of: caller.name)
    let peer = "\(caller)"
    let tokens = engine.resumeTokens.bound(to: caller.principal?.name)
    self.callContext = callContext
    self.mailbox = Mailbox(
      depth: options.mailboxDepth, policy: options.dropPolicy, standing: \.standing)
    let quality = SessionQuality(mayReduce: options.allowDegraded, clock: engine.clock)
    self.quality = quality
    self.outbox = FrameOutbox(
      // Whatever may wait to be filtered may wait to be written; but before a client that says what
      // it has consumed only the newest waits, so that the first it sees when it recovers is fresh.
      // Where none may be displaced there is room for all that were granted: a lane that waited for
      // acknowledgements would fill the mailbox, and hold back the reader who is to read them.
      pictureLimit: options.dropPolicy != .newestWins
        ? max(options.mailboxDepth + 1, options.framesInFlight)
        : options.outputWindow == nil ? options.mailboxDepth + 1 : 1,
      creditLimit: options.framesInFlight, outputWindow: options.outputWindow,
      noticesPerFrame: options.framesInFlight, now: engine.clock.now,
      discard: { frame, reason in
        frame.span.end(dropped: Drop(reason: reason, stage: .outbox))
        quality.recordLostAtOutput()
      })
    let (desk, lineage) = try Self.desk(options, catalogue, engine, tokens, caller)
    self.handle = SessionHandle(
      id: Self.newID(), number: number, lineage: lineage, label: options.label, caller: caller,
      outbox: self.outbox, desk: desk, clock: engine.clock, tokens: tokens)
    let sessionID = self.handle.id
    self.ringGrant = options.sharedMemory.map { layout in
      Result { () throws(FieldFault) in try engine.grantRing(layout, to: sessionID, peer: peer) }
    }
    self.ring = try? self.ringGrant?.get().ring
  }

  /// Serves the session until the client has closed its side and every frame has its outcome.
  ///
  /// - Parameter deposits: Where large messages are left until they are written; `nil`: they are copied.
  /// - Throws: `RPCError` when the client breaks the order of messages or sends only faults, when the
  ///   server shuts down (UNAVAILABLE), when an operator's override cannot be restored
  ///   (FAILED_PRECONDITION), or when the connection is lost.
  func run(
    messages: ClientMessages, writer: RPCWriter<OutgoingMessage<Sidelight_V1_ServerMessage>>,
    deposits: OutboundMessageStore.CallMessages?, cancellation: ServerContext.RPCCancellationHandle
  ) async throws {
    try self.adoptOverride()
    self.outbox.push(.message(self.opened))
    if self.handle.currentState.state != .running { self.handle.tellState() }
    let isComplete = Atomic(false)
    try await withGracefulShutdownHandler {
      try await self.runTasks(
        messages: messages, writer: writer, deposits: deposits, cancellation: cancellation
      ) {
        isComplete.store(!Task.isShuttingDownGracefully, ordering: .relaxed)
      }
    } onGracefulShutdown: {
      // Reading goes on, for whoever stops reading closes the stream: what still comes finds the
      // mailbox closed, and ends as DRAINING.
      self.outbox.push(.message(self.draining))
      self.outbox.openWindow()
      self.mailbox.finish()
      self.analysisJobs.finish()
    }
    if Task.isShuttingDownGracefully, !isComplete.load(ordering: .relaxed) {
      throw GoogleRPCStatus.shuttingDown
    }
  }

  /// A frame was made. Its slot, if it came in one, is the client's as soon as that is told.
  func resolve(_ arrival: UInt64, made frame: FinishedFrame<OutgoingFrame>) {
    self.ring?.giveBack(inputOf: arrival)
    self.outbox.resolve(arrival, made: frame)
  }

  /// A frame was dropped. Its slot, if it came in one, is the client's as soon as that is told.
  func resolve(_ arrival: UInt64, dropped drop: Drop, lateness: Duration = .zero) {
    self.ring?.giveBack(inputOf: arrival)
    self.outbox.resolve(arrival, dropped: drop, lateness: lateness)
  }

  /// A frame that waited will not be filtered.
  func drop(_ frame: IncomingFrame, _ drop: Drop) {
    frame.span.end(dropped: drop)
    // Whoever waits for its samples need not wait until nobody refers to it.
    frame.samples?.settle(.leftAlone)
    self.resolve(frame.arrival, dropped: drop)
    switch drop.reason {
    case .superseded, .queueFull: self.quality.recordLost()
    default: break
    }
  }

  /// - Parameter onClientDone: Called when the client has closed its side.
  private func runTasks(
    messages: ClientMessages, writer: RPCWriter<OutgoingMessage<Sidelight_V1_ServerMessage>>,
    deposits: OutboundMessageStore.CallMessages?, cancellation: ServerContext.RPCCancellationHandle,
    onClientDone: () -> Void
  ) async throws {
    enum Part {
      case reader
      case lane
      case analysisLane
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
      group.addTask(executorPreference: self.engine.compute) {
        await AnalysisLane(session: self).run()
        return .analysisLane
      }
      group.addTask {
        try await SessionWriter(session: self, deposits: deposits).run(writer)
        return .writer
      }
      group.addTask {
        await self.outbox.keepTime(self.engine.clock.wait)
        return .helper
      }
      group.addTask {
        // Tells of a client that is gone and of a deadline that has passed, which cancel nothing by
        // themselves; and of a shutdown, in which sessions finish.
        try await cancellation.cancelled
        guard Task.isShuttingDownGracefully else {
          throw RPCError(
            code: .cancelled, message: "The call was cancelled, or came to its deadline.")
        }
        await self.engine.clock.wait(self.engine.drainTimeout)
        guard Task.isCancelled else {
          throw RPCError(
            code: .unavailable,
            message: "The server is shutting down, and the session has not finished in time.")
        }
        return .helper
      }
      if let interval = self.options.statsInterval {
        group.addTask {
          while !Task.isCancelled {
            await self.engine.clock.wait(interval)
            if Task.isCancelled { break }
            self.outbox.pushNews { counts in
              .message(.with { $0.stats = Sidelight_V1_Stats(counts, isFinal: false) })
            }
          }
          return .helper
        }
      }
      if self.engine.resumeTokens.isEnabled {
        group.addTask {
          // A client should always hold a token with half its life before it.
          while !Task.isCancelled {
            await self.engine.clock.wait(self.engine.resumeTokens.lifetime / 2)
            if !Task.isCancelled { self.handle.tellState() }
          }
          return .helper
        }
      }
      var lanesAtWork = 2
      while let part = try await group.next() {
        switch part {
        case .reader:
          onClientDone()
          self.outbox.openWindow()
          self.mailbox.finish()
          self.analysisJobs.finish()
        case .lane, .analysisLane:
          // Counts are the last that is said, after every outcome and every analysis.
          lanesAtWork -= 1
          if lanesAtWork == 0 { self.outbox.finish() }
        case .writer:
          group.cancelAll()
          return
        case .helper: break
        }
      }
    }
  }

  private var draining: Sidelight_V1_ServerMessage {
    .with {
      $0.state.state = .draining
      $0.state.message = "The server is shutting down; open a session elsewhere."
      $0.state.resumeToken = self.handle.resumeToken()
      $0.state.revision = self.handle.revision
    }
  }

  private var opened: Sidelight_V1_ServerMessage {
    let revision = self.handle.selection(at: self.engine.clock.now()).revision
    return .with {
      $0.opened.sessionID = self.handle.id
      $0.opened.framesInFlight = UInt32(self.options.framesInFlight)
      $0.opened.revision = revision.number
      $0.opened.limits = self.engine.limits
      $0.opened.mailboxDepth = UInt32(self.options.mailboxDepth)
      $0.opened.budgetUs = self.options.budget?.wireMicroseconds ?? 0
      $0.opened.outputWindow = UInt32(self.options.outputWindow ?? 0)
      $0.opened.resumeToken = self.handle.resumeToken()
      switch self.ringGrant {
      case .success(let grant)?: $0.opened.sharedMemory = grant.offer
      case .failure(let fault)?: $0.opened.sharedMemoryRefusal = Google_Rpc_Status(fault.status)
      case nil: break
      }
      $0.opened.dropPolicy =
        switch self.options.dropPolicy {
        case .newestWins: .newestWins
        case .keepOldest: .keepOldest
        case .neverDrop: .neverDrop
        }
    }
  }

  /// Puts an operator's decision into force that was made for an earlier session of the same lineage,
  /// perhaps after the token was signed that this one resumes.
  ///
  /// To be called when the registry knows the session: a decision from then on finds it there.
  ///
  /// - Throws: FAILED_PRECONDITION if the forced pipeline is no longer valid. A session that runs
  ///   unfiltered against an operator's decision is worse than none.
  private func adoptOverride() throws {
    let now = self.engine.clock.now()
    guard let decision = self.engine.overrides.decision(for: self.handle.lineage, at: now) else {
      return
    }
    do throws(PipelineError) {
      try self.handle.adopt(decision)
    } catch {
      throw GoogleRPCStatus(
        code: .failedPrecondition,
        message: "An operator's override is in force, and its pipeline is no longer valid: \(error)",
        details: .errorInfo(
          reason: "OVERRIDE_INVALID", domain: GoogleRPCStatus.errorDomain, metadata: [:]))
    }
  }

  private static func desk(
    _ options: SessionOptions, _ catalogue: FilterCatalogue, _ engine: Engine,
    _ tokens: ResumeTokens, _ caller: Caller
  ) throws(FieldFault) -> (SelectionDesk, SessionLineage) {
    let now = engine.clock.now()
    if let token = options.resumeToken {
      let wallNow = engine.clock.nanosecondsSince1970()
      let state = try tokens.verify(token, at: wallNow)
      let desk = try SelectionDesk(
        resuming: state, at: now, wallNow: wallNow, catalogue: catalogue,
        overrideCatalogue: engine.catalogue)
      return (desk, SessionLineage(token: state.lineage))
    }
    do throws(PipelineError) {
      let desk = try SelectionDesk(
        pipeline: options.pipeline, catalogue: catalogue, overrideCatalogue: engine.catalogue)
      let track = OverrideStore.Track(caller: caller.name, label: options.label)
      return (desk, engine.overrides.lineage(ofTrack: track, at: now) ?? SessionLineage())
    } catch {
      throw FieldFault(error).within("open.pipeline")
    }
  }

  /// 64 random bits: unique enough for logs, and nothing that a stranger could guess.
  private static func newID() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
