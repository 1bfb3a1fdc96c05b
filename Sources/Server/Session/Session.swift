import GRPCCore
import GRPCProtobuf
import Logging
import ServiceLifecycle
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Synchronization
import Tracing

/// One participant's track: every frame gets exactly one outcome, in the order of arrival.
///
/// Child tasks of the RPC handler share the work:
/// - The reader reads all messages, checks them and offers frames to the mailbox.
/// - The decoding worker decodes frames of encoded video in front of the mailbox.
/// - The worker takes a frame when the scheduler grants a turn, and filters it on the compute
///   threads. It requests turns on the thread of its connection.
/// - Jobs analyze some of the frames, and search whole pictures, at the same time.
/// - The composer makes the frames of a session with a composition.
/// - The writer sends the outcome queue's items in order.
/// - Helpers wait for times: of delayed notices, of statistics, of the next resume token, of the
///   call's end.
///
/// All of them end when the client disconnects or one of them fails.
struct Session: Sendable {
  typealias FrameMailbox = Mailbox<IncomingFrame>
  typealias FrameOutcomeQueue = OutcomeQueue<OutgoingFrame, OutgoingNotice>

  let handle: SessionHandle
  let options: SessionOptions
  let engine: Engine
  let mailbox: FrameMailbox
  let outcomes: FrameOutcomeQueue
  /// The requested form of the results.
  let output: EncodedOutput
  /// The named outputs, which start with the results.
  let outputs: [SessionOutput]
  /// The composition whose frames the session filters, if the client sends none.
  let composition: LockedValue<Composition>?
  /// The end of the composed frames.
  private let compositionEnd = Completion()
  /// The pipeline without stages.
  let emptyPipeline: ResolvedPipeline
  /// The frames in front of the mailbox, of a session with encoded video.
  let decodingJobs: Mailbox<DecodingJob>
  /// Whether frames have taken the way through the decoding worker.
  let decodesFrames = LockedValue(false)
  /// Gives frames their outcomes.
  let resolver: FrameResolver
  /// The rate limiter shared by all calls of the caller or participant.
  let rateLimiter: CallerRateLimiter
  /// The work off the frame's path.
  let jobs: SessionJobs
  let analyses = SessionAnalyses()
  let scene: SessionScene
  let quality: SessionQuality
  /// The shared memory of the session, or `nil` if pixels travel inline.
  let ring: SessionRing?
  /// The parent of the spans of frames without a trace context.
  let callContext: ServiceContext
  /// The response to a client that requested shared memory.
  private let ringGrant: Result<SharedMemoryBroker.Grant, FieldViolation>?

  /// - Parameters:
  ///   - number: The session's number for the scheduler.
  ///   - group: The call or room, or empty.
  ///   - catalogue: The filters, with the assets that the caller's pipelines may name.
  ///   - callContext: The parent of the spans of frames without a trace context.
  /// - Throws: ``FieldViolation`` if the first pipeline, an output's pipeline or the resume token is
  ///   invalid.
  init(
    number: UInt64, caller: Caller, group: String, options: SessionOptions,
    catalogue: FilterCatalogue, engine: Engine, callContext: ServiceContext
  ) throws(FieldViolation) {
    self.options = options
    self.engine = engine
    self.jobs = SessionJobs(of: number, engine.processing)
    self.rateLimiter = engine.admission.rateLimiter.limiter(of: caller.identity)
    self.callContext = callContext
    self.composition = options.composition.map(LockedValue.init)
    // A worker that waits for an output must not stop the reader, which reads acknowledgements.
    let holdsAll = options.dropPolicy == .neverDrop && !options.outputs.isEmpty
    self.mailbox = Mailbox(
      depth: holdsAll ? max(options.mailboxDepth, options.framesInFlight) : options.mailboxDepth,
      policy: options.dropPolicy, evictionPriority: \.evictionPriority)
    self.output = EncodedOutput(shape: options.output, encoder: options.encoder)
    self.emptyPipeline = try Self.emptyPipeline(engine)
    self.outputs = try Self.makeOutputs(options, catalogue, engine)
    // Credits bound the frames that wait, so this only delays clients that never drop.
    self.decodingJobs = Mailbox(depth: options.framesInFlight, policy: .neverDrop)
    self.scene = SessionScene(self.jobs)
    let quality = SessionQuality(mayReduce: options.open.allowDegraded, clock: engine.clock)
    self.quality = quality
    let id = Self.makeID()
    var logger = engine.observability.logger
    logger[metadataKey: "session"] = "\(id)"
    logger[metadataKey: "caller"] = "\(caller.name)"
    self.outcomes = FrameOutcomeQueue(
      pictureLimit: Self.pictureLimit(options),
      creditLimit: options.composition == nil ? options.framesInFlight : .max,
      // Outcomes without pixels are not acknowledged.
      outputWindow: self.outputs.isEmpty ? options.outputWindow : nil,
      // Notices of a composition return no credits.
      noticesPerFrame: options.composition == nil ? options.framesInFlight : .max,
      now: engine.clock.now,
      discard: { [logger] frame, reason in
        let drop = Drop(reason: reason, stage: .outbox)
        logger.log(drop)
        frame.span.end(dropped: drop)
        quality.recordLostAtOutput()
      })
    let tokens = engine.resumption.tokens.bound(
      to: caller.principal?.name, participant: caller.participant)
    let (pipelineState, lineage) = try Self.makePipelineState(
      options, catalogue, engine, tokens, caller)
    self.handle = SessionHandle(
      id: id, number: number, lineage: lineage, label: options.open.label,
      group: group, caller: caller,
      outcomes: self.outcomes, outputs: self.outputs, composes: options.composition != nil,
      acceptsMove: options.open.acceptsMove, pipelineState: pipelineState,
      clock: engine.clock, logger: logger, tokens: tokens,
      overrides: engine.resumption.overrides)
    let sessionID = self.handle.id
    self.ringGrant = options.sharedMemory.map { layout in
      Result { () throws(FieldViolation) in
        guard options.outputs.isEmpty else {
          throw FieldViolation(
            code: .unimplemented, field: "open.shared_memory",
            reason: "is not offered to sessions with outputs; pixels travel inline")
        }
        guard options.composition == nil else {
          throw FieldViolation(
            code: .unimplemented, field: "open.shared_memory",
            reason: "is not offered to sessions with a composition; pixels travel inline")
        }
        return try engine.grantRing(layout, to: sessionID, peer: "\(caller)")
      }
    }
    // `opened` reports a refusal; pixels then travel inline.
    self.ring = try? self.ringGrant?.get().ring
    self.resolver = FrameResolver(
      outcomes: self.outcomes, handle: self.handle, options: options, output: self.output,
      outputs: self.outputs, ring: self.ring,
      quality: quality, pool: engine.processing.pool, clock: engine.clock)
  }

  /// Returns the number of finished frames that may wait to be written.
  private static func pictureLimit(_ options: SessionOptions) -> Int {
    // Under policies that do not displace, the queue has capacity for all granted frames: a worker
    // that waited for acknowledgements would fill the mailbox and so stop the reader, which reads
    // them.
    if options.dropPolicy != .newestWins {
      return max(options.mailboxDepth + 1, options.framesInFlight)
    }
    // Without pixels all outcomes fit.
    guard options.outputs.isEmpty else { return .max }
    // As many frames may wait here as in the mailbox; the next one is filtered while they wait.
    // With acknowledgements and a mailbox for one frame, the first picture after a pause is fresh.
    return options.outputWindow == nil ? options.mailboxDepth + 1 : options.mailboxDepth
  }

  /// Serves the session until the client has closed its side and every frame has its outcome.
  ///
  /// - Parameter callMessages: The store for large messages until they are written; `nil` copies
  ///   them.
  /// - Throws: `RPCError` if the client breaks the order of messages or sends only errors, when the
  ///   server shuts down or the session is moved (UNAVAILABLE), if an operator closes it
  ///   (PERMISSION_DENIED), if an operator's override cannot be restored
  ///   (FAILED_PRECONDITION), or when the connection is lost.
  func run(
    messages: ClientMessages, writer: RPCWriter<OutgoingMessage<Sidelight_V1_ServerMessage>>,
    callMessages: OutboundMessageStore.CallMessages?,
    cancellation: ServerContext.RPCCancellationHandle
  ) async throws {
    try self.applyStoredOverride()
    self.outcomes.push(.message(self.opened))
    self.handle.startReporting()
    defer { self.jobs.finish() }
    let isComplete = Atomic(false)
    try await withGracefulShutdownHandler {
      try await self.runTasks(
        messages: messages, writer: writer, callMessages: callMessages, cancellation: cancellation
      ) {
        isComplete.store(self.handle.departure.status == nil, ordering: .relaxed)
      }
    } onGracefulShutdown: {
      let target = self.engine.drainTargets.value[self.handle.number]
      self.handle.move(
        to: target.map { [$0] } ?? [], within: self.engine.drainTimeout / 2,
        otherwise: GoogleRPCStatus.shuttingDown)
    }
    if let status = self.handle.departure.status, !isComplete.load(ordering: .relaxed) {
      throw status
    }
  }

  /// Ends the session as soon as a shutdown or an operator requests it.
  private func depart() async {
    guard let status = await self.handle.departure.waitUntilDue(on: self.engine.clock) else {
      return
    }
    // The reader continues, because the stream closes unless it is read: frames that still arrive
    // find the mailbox closed and are dropped as DRAINING.
    if status.code == .unavailable { self.outcomes.push(.message(self.draining(status))) }
    self.closeInputs()
  }

  // MARK: Tasks

  /// - Parameter onClientDone: Called when the client has closed its side.
  private func runTasks(
    messages: ClientMessages, writer: RPCWriter<OutgoingMessage<Sidelight_V1_ServerMessage>>,
    callMessages: OutboundMessageStore.CallMessages?,
    cancellation: ServerContext.RPCCancellationHandle,
    onClientDone: () -> Void
  ) async throws {
    enum Part {
      case reader
      case worker
      case output
      case writer
      case helper
    }
    let writer = SerialWriter(writer)
    try await withThrowingTaskGroup(of: Part.self) { group in
      group.addTask {
        var reader = SessionReader(session: self)
        try await reader.run(messages)
        return .reader
      }
      group.addTask {
        var worker = DecodingWorker(session: self)
        await worker.run()
        return .helper
      }
      group.addTask {
        await SessionWorker(session: self).run()
        return .worker
      }
      group.addTask {
        await self.analyses.run(of: self)
        return .worker
      }
      group.addTask {
        try await SessionWriter(session: self, callMessages: callMessages).run(writer)
        return .writer
      }
      if let composition = self.composition {
        group.addTask {
          await self.compose(composition)
          return .worker
        }
      }
      for output in self.outputs {
        group.addTask {
          try await self.run(output, writer, callMessages)
          return .output
        }
      }
      group.addTask {
        await self.outcomes.runTimer(self.engine.clock.wait)
        return .helper
      }
      group.addTask {
        try await self.waitForEndOfCall(cancellation)
        return .helper
      }
      group.addTask {
        await self.depart()
        return .helper
      }
      if let interval = self.options.statsInterval {
        group.addTask {
          await self.sendStatistics(every: interval)
          return .helper
        }
      }
      if self.engine.resumption.tokens.isEnabled {
        group.addTask {
          await self.refreshResumeToken()
          return .helper
        }
      }
      var runningWorkers = self.composition == nil ? 2 : 3
      var runningOutputs = self.outputs.count
      while let part = try await group.next() {
        switch part {
        case .reader:
          onClientDone()
          self.closeInputs()
        case .worker:
          // The final counts follow every outcome and every analysis.
          runningWorkers -= 1
          guard runningWorkers == 0 else { continue }
          for output in self.outputs { output.finish() }
          if runningOutputs == 0 { self.outcomes.finish() }
        case .output:
          runningOutputs -= 1
          if runningOutputs == 0, runningWorkers == 0 { self.outcomes.finish() }
        case .writer:
          group.cancelAll()
          return
        case .helper: break
        }
      }
    }
  }

  /// Filters, encodes and writes the results of a named output.
  private func run(
    _ output: SessionOutput, _ writer: SerialWriter,
    _ callMessages: OutboundMessageStore.CallMessages?
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        var worker = OutputWorker(session: self, output: output)
        await worker.run()
      }
      group.addTask {
        try await SessionWriter(session: self, output: output, callMessages: callMessages)
          .run(writer)
      }
      try await group.waitForAll()
    }
  }

  /// Makes frames until the client has closed its side, or the task is cancelled.
  private func compose(_ composition: LockedValue<Composition>) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        var composer = Composer(session: self, composition)
        await composer.run()
      }
      await withTaskCancellationHandler {
        await self.compositionEnd.wait()
      } onCancel: {
        self.compositionEnd.finish()
      }
      group.cancelAll()
    }
    // The composer was the last to offer frames.
    self.mailbox.finish()
    self.analyses.finish()
  }

  /// Stops accepting frames. Accepted frames still get their outcomes, without waiting for
  /// acknowledgements.
  private func closeInputs() {
    self.outcomes.openWindow()
    for output in self.outputs { output.outcomes.openWindow() }
    self.decodingJobs.finish()
    guard self.composition == nil else { return self.compositionEnd.finish() }
    // The decoding worker finishes the mailbox once it has decoded the frames that wait.
    if !self.decodesFrames.value { self.mailbox.finish() }
    self.analyses.finish()
  }

  /// Ends the session when the client disconnects or the call's deadline passes, because gRPC
  /// doesn't cancel its tasks then, or when a shutdown takes too long. Returns if the session ends
  /// first.
  private func waitForEndOfCall(
    _ cancellation: ServerContext.RPCCancellationHandle
  ) async throws {
    try await cancellation.cancelled
    guard Task.isShuttingDownGracefully else {
      throw RPCError(
        code: .cancelled, message: "The call was cancelled, or its deadline has passed.")
    }
    await self.engine.clock.wait(self.engine.drainTimeout)
    guard Task.isCancelled else {
      throw RPCError(
        code: .unavailable,
        message: "The server is shutting down, and the session has not finished in time.")
    }
  }

  private func sendStatistics(every interval: Duration) async {
    let clock = self.engine.clock
    var next = clock.now()
    while true {
      // Whole intervals since the start: the delays of waits do not accumulate.
      repeat { next += interval } while next <= clock.now()
      await clock.wait(next - clock.now())
      guard !Task.isCancelled else { return }
      self.outcomes.pushNotice { counts in
        .message(.with { $0.stats = self.handle.stats(counts, isFinal: false) })
      }
    }
  }

  /// Sends a new resume token whenever half of a token's lifetime has passed. The lifetime can
  /// change while the session is open, so every wait reads it again.
  private func refreshResumeToken() async {
    while !Task.isCancelled {
      await self.engine.clock.wait(self.engine.resumption.tokens.lifetime / 2)
      if !Task.isCancelled { self.handle.queueState() }
    }
  }

  // MARK: Messages

  private func draining(_ status: GoogleRPCStatus) -> Sidelight_V1_ServerMessage {
    .with {
      $0.state.state = .draining
      $0.state.message = "\(status.message) Open a session elsewhere."
      $0.state.resumeToken = self.handle.resumeToken()
      $0.state.revision = self.handle.revision
    }
  }

  private var opened: Sidelight_V1_ServerMessage {
    let revision = self.handle.activePipeline(at: self.engine.clock.now()).revision
    return .with {
      $0.opened.sessionID = self.handle.id
      $0.opened.framesInFlight = UInt32(self.options.framesInFlight)
      $0.opened.revision = revision.number
      $0.opened.limits = self.engine.admission.limits
      $0.opened.mailboxDepth = UInt32(self.options.mailboxDepth)
      $0.opened.budgetUs = self.options.budget?.wireMicroseconds ?? 0
      $0.opened.outputWindow = UInt32(self.options.outputWindow ?? 0)
      $0.opened.resumeToken = self.handle.resumeToken()
      switch self.ringGrant {
      case .success(let grant)?: $0.opened.sharedMemory = grant.offer
      case .failure(let violation)?:
        $0.opened.sharedMemoryRefusal = Google_Rpc_Status(violation.status)
      case nil: break
      }
      $0.opened.dropPolicy = Sidelight_V1_DropPolicy(self.options.dropPolicy)
    }
  }

  // MARK: Opening

  /// Applies an operator's decision about another session of the same lineage or track, which may
  /// be newer than the token that this session resumes from, or about the participant. The client
  /// learns of it from the first state message.
  ///
  /// Call it after the registry has added the session: it then receives all later decisions itself.
  ///
  /// - Throws: FAILED_PRECONDITION if the forced pipeline is no longer valid. A session must not
  ///   run unfiltered against an operator's decision.
  private func applyStoredOverride() throws {
    do throws(PipelineError) {
      try self.handle.applyDecision(at: self.engine.clock.now())
    } catch {
      throw GoogleRPCStatus(
        code: .failedPrecondition,
        message:
          "An operator's override is in force, and its pipeline is no longer valid: \(error)",
        details: .errorInfo(
          reason: "OVERRIDE_INVALID", domain: GoogleRPCStatus.errorDomain, metadata: [:]))
    }
  }

  private static func emptyPipeline(_ engine: Engine) throws(FieldViolation) -> ResolvedPipeline {
    do throws(PipelineError) {
      return try engine.compiler.catalogue.resolve([])
    } catch {
      throw FieldViolation(error)
    }
  }

  private static func makeOutputs(
    _ options: SessionOptions, _ catalogue: FilterCatalogue, _ engine: Engine
  ) throws(FieldViolation) -> [SessionOutput] {
    var outputs: [SessionOutput] = []
    for (index, output) in options.outputs.enumerated() {
      let pipeline = try FieldViolation.within("open.outputs[\(index)]") {
        () throws(FieldViolation) in
        try output.resolvedPipeline(in: catalogue, engine.compiler)
      }
      outputs.append(
        SessionOutput(
          output, pipeline: pipeline, window: options.outputWindow, now: engine.clock.now))
    }
    return outputs
  }

  private static func makePipelineState(
    _ options: SessionOptions, _ catalogue: FilterCatalogue, _ engine: Engine,
    _ tokens: ResumeTokens, _ caller: Caller
  ) throws(FieldViolation) -> (PipelineState, SessionLineage) {
    let now = engine.clock.now()
    if let token = options.resumeToken {
      let wallNow = engine.clock.nanosecondsSince1970()
      let state = try tokens.verify(token, at: wallNow)
      let pipelineState = try PipelineState(
        resuming: state, at: now, wallNow: wallNow, catalogue: catalogue,
        overrideCatalogue: engine.compiler.catalogue)
      return (pipelineState, SessionLineage(token: state.lineage))
    }
    do throws(PipelineError) {
      let pipelineState = try PipelineState(
        pipeline: options.pipeline.pipeline, catalogue: catalogue,
        overrideCatalogue: engine.compiler.catalogue)
      let lineage = engine.resumption.overrides.lineage(
        of: caller.identity, label: options.open.label, at: now)
      return (pipelineState, lineage ?? SessionLineage())
    } catch {
      throw options.pipeline.violation(of: error).within("open")
    }
  }

  /// Returns 64 random bits as text: unique enough for logs, and not guessable.
  private static func makeID() -> String {
    String(hexadecimal: UInt64.random(in: .min ... .max))
  }
}
