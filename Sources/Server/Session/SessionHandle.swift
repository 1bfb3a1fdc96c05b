import Foundation
import Logging
import SidelightKernels
import SidelightWire
import SwiftProtobuf
import Synchronization

/// The part of a session that the rest of the server can access: its pipeline state, its counts,
/// and the operators' controls.
final class SessionHandle: Sendable {
  private struct State {
    var pipelineState: PipelineState
    /// The number of changes to the pipeline state.
    var version: UInt64 = 0
    /// The first revision whose results compositions may show: the last one that began or changed an
    /// override, or a pipeline that protects.
    var firstShownRevision: UInt64 = 0
    /// Whether a state message waits to be written, or ``startReporting()`` was not called yet. The
    /// message will report every change up to then.
    var isStateQueued = true
    var lastToken: SignedToken?
    /// The geometry of the last valid frame.
    var lastGeometry: FrameGeometry?
    /// The time from arrival to writing of the last sent frame.
    var lastTotal = Duration.zero
    /// The arrival time of the last sent frame.
    var lastReceived: Duration?
  }

  /// The last resume token, and the state that it was signed for.
  private struct SignedToken {
    var token: Data
    var version: UInt64
    var key: ResumeKey?
    var signed: Duration
  }

  /// The session's name for clients, logs and operators.
  let id: String
  /// The session's number for the scheduler.
  let number: UInt64
  /// Identifies the session together with its predecessors and successors.
  let lineage: SessionLineage
  let label: String
  /// The call or room, whose sessions belong to one server. Empty without one.
  let group: String
  /// The caller, or the participant for which it acts, for limits and ownership.
  let identity: CallerIdentity
  /// The caller's description for logs and operators.
  let peer: String
  let opened: Duration
  let outcomes: Session.FrameOutcomeQueue
  let outputs: [SessionOutput]
  /// The newest result, for compositions.
  let results = SessionResults()
  /// Whether the session composes results of others.
  let composes: Bool
  /// Whether the client opens the session elsewhere when it is asked to.
  let acceptsMove: Bool
  /// The end that a shutdown or an operator requests.
  let departure = SessionDeparture()
  let clock: SessionClock
  /// Its entries have the session and the caller.
  let logger: Logger
  private let tokens: ResumeTokens
  private let overrides: OverrideStore
  private let state: Mutex<State>

  init(
    id: String, number: UInt64, lineage: SessionLineage, label: String, group: String,
    caller: Caller,
    outcomes: Session.FrameOutcomeQueue, outputs: [SessionOutput] = [], composes: Bool = false,
    acceptsMove: Bool = false, pipelineState: PipelineState, clock: SessionClock, logger: Logger,
    tokens: ResumeTokens, overrides: OverrideStore
  ) {
    self.id = id
    self.number = number
    self.lineage = lineage
    self.label = label
    self.group = group
    self.identity = caller.identity
    self.peer = caller.description
    self.opened = clock.now()
    self.outcomes = outcomes
    self.outputs = outputs
    self.composes = composes
    self.acceptsMove = acceptsMove
    self.clock = clock
    self.logger = logger
    self.tokens = tokens
    self.overrides = overrides
    self.state = Mutex(State(pipelineState: pipelineState))
  }

  // MARK: For the session

  /// Returns the pipeline for a frame that arrives now.
  func activePipeline(at now: Duration) -> ActivePipeline {
    let (active, hasOverrideEnded) = self.state.withLock { state in
      let hasEnded = self.expireOverride(&state, at: now)
      return (state.pipelineState.activePipeline, hasEnded)
    }
    if hasOverrideEnded { self.queueState() }
    return active
  }

  /// Returns the pipeline for a frame, with its position in a transition. Announces the end of a
  /// transition that is over with the frame.
  func activePipeline(for frame: Sidelight_V1_Frame, received: Duration) -> ActivePipeline {
    let (active, ended, hasOverrideEnded) = self.state.withLock { state in
      let hasEnded = self.expireOverride(&state, at: received)
      let (active, ended) = state.pipelineState.activePipeline(
        captureTime: frame.captureTimeNs, arrival: received)
      return (active, ended, hasEnded)
    }
    if hasOverrideEnded { self.queueState() }
    if let (revision, end) = ended { self.announce(end, of: revision, at: frame.sequence) }
    return active
  }

  /// Ends the transition to a revision with a cut, and announces it, unless it is over.
  ///
  /// - Parameter sequence: The first frame that shows only the later pipeline.
  func cutTransition(to revision: Revision, _ end: TransitionEnd, at sequence: UInt64) {
    let isNew = self.state.withLock {
      $0.pipelineState.cutTransition(to: revision, at: sequence)
    }
    if isNew { self.announce(end, of: revision, at: sequence) }
  }

  /// Ends the transition of a frame that shows only the later pipeline.
  func cutTransition(of frame: IncomingFrame, _ end: TransitionEnd) {
    self.cutTransition(
      to: frame.activePipeline.revision, end, at: frame.message.sequence)
  }

  /// Returns whether the transition of a frame was cut with the frame or one before it.
  func hasCutTransition(of frame: IncomingFrame) -> Bool {
    self.state.withLock {
      $0.pipelineState.hasCutTransition(
        to: frame.activePipeline.revision, at: frame.message.sequence)
    }
  }

  private func announce(_ end: TransitionEnd, of revision: Revision, at sequence: UInt64) {
    self.outcomes.push(
      .message(
        .with {
          $0.transitionEnded.revision = revision.number
          $0.transitionEnded.requestID = revision.requestID
          $0.transitionEnded.firstSequence = sequence
          $0.transitionEnded.end = Sidelight_V1_TransitionEnd(end)
        }))
  }

  /// Whether an operator's override is active.
  var isOverridden: Bool { self.overrideEnd != nil }

  /// The end time of the operator's override, if one is active.
  var overrideEnd: Duration? { self.override?.end }
  /// The active override, if any.
  var override: PipelineState.Override? { self.state.withLock { $0.pipelineState.override } }

  /// Whether frames that arrive now are filtered, dropped or passed through.
  var pause: PipelineState.Pause { self.state.withLock { $0.pipelineState.pause } }

  /// The active revision.
  var revision: UInt64 { self.state.withLock { $0.pipelineState.revision } }

  /// The stages of the pipelines: the cost of restating the state.
  var stageCount: Int { self.state.withLock { $0.pipelineState.stageCount } }

  /// The track, as compositions name it.
  var track: Composition.Source {
    Composition.Source(participant: self.identity.participant, label: self.label)
  }

  /// Returns whether a composition may show a result of a revision: an operator's override and a
  /// pipeline that protects hide earlier ones, and a pause without frames hides all.
  func permitsResult(of revision: UInt64) -> Bool {
    self.state.withLock { state in
      state.pipelineState.pause != .dropping && revision >= state.firstShownRevision
    }
  }

  /// Changes the participant's pipeline.
  ///
  /// - Returns: The revision created by the change.
  /// - Throws: ``FieldViolation``, as ``PipelineState/change(ifRevision:requestID:violation:_:)``
  ///   does.
  func apply(_ change: PipelineChange) throws(FieldViolation) -> UInt64 {
    try self.update { pipelineState throws(FieldViolation) in
      try pipelineState.change(
        ifRevision: change.expectedRevision, requestID: change.requestID,
        transition: change.transition, isSelection: change.requested != nil,
        violation: change.violation(of:), change.apply)
      return pipelineState.revision
    }
  }

  /// Pauses the session or ends its pause, and sends the state if it changed.
  func setPause(_ pause: PipelineState.Pause) {
    let isChange = self.update { pipelineState in pipelineState.setPause(pause) }
    if isChange { self.queueState() }
  }

  /// Records the geometry of a valid frame.
  func recordGeometry(_ geometry: FrameGeometry) {
    self.state.withLock { $0.lastGeometry = geometry }
  }

  /// Records that a frame was passed to the transport.
  ///
  /// - Parameter total: The time since its arrival.
  func recordLatency(total: Duration) {
    let received = self.clock.now() - total
    self.state.withLock { state in
      state.lastTotal = total
      state.lastReceived = received
    }
  }

  /// The time from arrival to writing of the last sent frame.
  var lastTotal: Duration { self.state.withLock { $0.lastTotal } }

  /// Returns the time since the arrival of the last frame that was sent, or `nil` if no frame
  /// waits.
  func outputAge(at now: Duration) -> Duration? {
    guard self.outcomes.counts.inFlight > 0 else { return nil }
    return now - (self.state.withLock { $0.lastReceived } ?? self.opened)
  }

  /// Permits messages with the state, which must follow `opened`, and queues the first one unless
  /// the session is running.
  func startReporting() {
    let isRunning = self.state.withLock { state in
      state.isStateQueued = false
      return Self.state(of: state.pipelineState) == .running
    }
    if !isRunning { self.queueState() }
  }

  /// Queues a message with the state of the session. At most one waits: it reports the state at the
  /// time of writing.
  func queueState() {
    let isNew = self.state.withLock { state in
      defer { state.isStateQueued = true }
      return !state.isStateQueued
    }
    if isNew { self.outcomes.push(.state) }
  }

  /// Returns the state for the queued message, which is about to be written.
  func dequeueState() -> Sidelight_V1_State {
    let pipelineState = self.state.withLock { state in
      state.isStateQueued = false
      _ = self.expireOverride(&state, at: self.clock.now())
      return state.pipelineState
    }
    return self.message(pipelineState)
  }

  /// Returns a token that restores the current state in another session, or empty if tokens are
  /// disabled. Signs once per change of the state.
  func resumeToken() -> Data {
    guard let key = self.tokens.signingKey else { return Data() }
    let now = self.clock.now()
    let lifetime = self.tokens.lifetime
    let (pipelineState, version, last) = self.state.withLock {
      ($0.pipelineState, $0.version, $0.lastToken)
    }
    if let last, last.version == version, last.key == key, now - last.signed < lifetime / 4 {
      return last.token
    }
    let token = self.tokens.sign(
      pipelineState.resumeState(
        of: self.lineage, at: now, wallNow: self.clock.nanosecondsSince1970(), lifetime: lifetime))
    let signed = SignedToken(token: token, version: version, key: key, signed: now)
    self.state.withLock { state in
      if state.version == version { state.lastToken = signed }
    }
    return token
  }

  /// The counts of the session's frames, with the bytes sent by all outputs.
  var counts: FrameCounts { self.withOutputs(self.outcomes.counts) }

  /// The counts of the frames of all named outputs.
  var outputCounts: FrameCounts {
    self.outputs.reduce(into: FrameCounts()) { $0.add($1.outcomes.counts) }
  }

  private func withOutputs(_ counts: FrameCounts) -> FrameCounts {
    var counts = counts
    for output in self.outputs { counts.bytesOut += output.outcomes.counts.bytesOut }
    return counts
  }

  /// Returns the message of the session's counts, with the counts of its outputs.
  func stats(_ counts: FrameCounts, isFinal: Bool) -> Sidelight_V1_Stats {
    var stats = Sidelight_V1_Stats(self.withOutputs(counts), isFinal: isFinal)
    stats.outputs = self.outputs.map { output in
      var stats = Sidelight_V1_Stats(output.outcomes.counts, isFinal: isFinal)
      stats.output = output.name
      return stats
    }
    return stats
  }

  // MARK: For operators

  /// The session, as the store of overrides finds it.
  var overrideSession: OverrideStore.Session {
    OverrideStore.Session(lineage: self.lineage, identity: self.identity, label: self.label)
  }

  /// Applies the operators' decision for the session: forces its pipeline, and drops frames that
  /// were filtered before and have not been sent; or ends the override.
  ///
  /// Reads the store under the session's lock: the last decision applies if operators decide at the
  /// same time, or while the session opens.
  ///
  /// - Parameter other: The decision to use if the store lacks one. `nil` keeps the pipeline.
  /// - Returns: The revision, and whether the override began, changed or ended.
  /// - Throws: ``PipelineError`` if the forced pipeline does not resolve, for example because it
  ///   names a deleted asset. A session must not open without the override then.
  @discardableResult
  func applyDecision(
    at now: Duration, default other: OverrideStore.Decision? = nil
  ) throws(PipelineError) -> (revision: UInt64, isChanged: Bool) {
    let (isForced, isChanged, revision) = try self.update { pipelineState throws(PipelineError) in
      switch self.overrides.decision(for: self.overrideSession, at: now) ?? other {
      case .forced(let pipeline, let reason, let end)?:
        // The end of another override changes nothing for this session.
        if let active = pipelineState.override,
          active.isSame(as: pipeline, reason: reason, until: end)
        {
          return (false, false, pipelineState.revision)
        }
        try pipelineState.override(with: pipeline, reason: reason, until: end)
        return (true, true, pipelineState.revision)
      case .lifted?: return (false, pipelineState.endOverride(), pipelineState.revision)
      case nil: return (false, false, pipelineState.revision)
      }
    }
    if isForced { self.discardPictures(before: revision) }
    if isChanged { self.queueState() }
    return (revision, isChanged)
  }

  /// Drops frames of earlier revisions that were filtered and have not been sent.
  func discardPictures(before revision: UInt64) {
    self.outcomes.discardPictures(before: revision)
    for output in self.outputs { output.outcomes.discardPictures(before: revision) }
  }

  /// Returns the description of the session for operators.
  func info(at now: Duration) -> Sidelight_V1_SessionInfo {
    // This ends an override that has expired.
    _ = self.activePipeline(at: now)
    let (pipelineState, geometry, total) = self.state.withLock {
      ($0.pipelineState, $0.lastGeometry, $0.lastTotal)
    }
    return .with {
      $0.sessionID = self.id
      $0.label = self.label
      $0.peer = self.peer.clipped(toBytes: ContractLimits.maxListedPeerBytes)
      $0.state = Self.state(of: pipelineState)
      $0.pipeline = pipelineState.effectivePipeline.text(
        clippedToBytes: ContractLimits.maxListedPipelineBytes)
      $0.revision = pipelineState.revision
      $0.age = Google_Protobuf_Duration(rounding: now - self.opened)
      $0.stats = self.stats(self.outcomes.counts, isFinal: false)
      if let geometry {
        $0.width = UInt32(geometry.size.width)
        $0.height = UInt32(geometry.size.height)
        $0.format = Sidelight_V1_PixelFormat(geometry.format)
      }
      $0.lastTotalUs = total.wireMicroseconds
      $0.overrideReason = pipelineState.override?.reason ?? ""
      $0.participant = self.identity.participant
      $0.caller = self.identity.listedCaller
    }
  }

  // MARK: Helpers

  /// Ends an override that has expired; an earlier one that has not ended applies again.
  ///
  /// - Returns: Whether an override has ended.
  private func expireOverride(_ state: inout State, at now: Duration) -> Bool {
    let hasEnded = state.pipelineState.expire(at: now) {
      self.overrides.decision(for: self.overrideSession, at: now)
    }
    guard hasEnded else { return false }
    state.version += 1
    Self.hideEarlierResults(&state)
    return true
  }

  private func update<Result, Failure: Error>(
    _ body: (inout PipelineState) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try self.state.withLock { state throws(Failure) in
      state.version += 1
      let revision = state.pipelineState.revision
      let result = try body(&state.pipelineState)
      if state.pipelineState.revision != revision { Self.hideEarlierResults(&state) }
      return result
    }
  }

  /// Hides the results of earlier revisions from compositions if the active pipeline hides anything.
  private static func hideEarlierResults(_ state: inout State) {
    let active = state.pipelineState.activePipeline
    guard active.isOverride || active.pipeline.protects else { return }
    state.firstShownRevision = active.revision.number
  }

  private func message(_ pipelineState: PipelineState) -> Sidelight_V1_State {
    .with {
      $0.state = Self.state(of: pipelineState)
      $0.message = pipelineState.override?.reason ?? ""
      $0.revision = pipelineState.revision
      $0.resumeToken = self.resumeToken()
    }
  }

  private static func state(of pipelineState: PipelineState) -> Sidelight_V1_SessionState {
    if pipelineState.override != nil { return .overridden }
    return pipelineState.pause == .running ? .running : .paused
  }
}
