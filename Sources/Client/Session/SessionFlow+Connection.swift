import Foundation
import GRPCCore
import SidelightWire
import Synchronization

/// The methods of the session's connection: its opening, its messages in both directions, its loss.
extension SessionFlow {
  /// Returns when the session was opened for the first time.
  ///
  /// - Throws: The error that prevented it; `CancellationError`.
  func waitUntilOpened() async throws {
    await self.wait(for: .opening)
    try Task.checkCancellation()
    try self.state.withLock { $0.opening }?.get()
  }

  /// Whether further messages are refused and all accepted ones are sent: no connection is needed.
  var isDrained: Bool { self.state.withLock { $0.window.isDrained } }

  /// Returns when ``isDrained`` is true, or the task is cancelled.
  func waitUntilDrained() async {
    await self.wait(for: .drained)
  }

  /// Records that a connection is being opened.
  ///
  /// - Parameters:
  ///   - usesToken: Whether it presents the resume token.
  ///   - isMove: Whether the session uses its current connection until it moves to this one.
  /// - Returns: The connection's number, and the pipeline, the resume token and the composition to
  ///   open it with.
  func startOpening(
    usesToken: Bool, isMove: Bool = false
  ) -> (
    link: Int, pipeline: SelectedPipeline, token: Data?, composition: CompositionOptions?
  ) {
    self.update { state in
      let link = state.addLink(at: self.clock.now())
      if isMove {
        state.pending = link
        state.changes.startMove()
      } else {
        state.current = link
        state.window.startOpening()
      }
      return (
        link, state.changes.pipeline, usesToken ? state.changes.token : nil,
        state.encoders.composition
      )
    }
  }

  /// Records that a connection is open. The session moves to it as soon as it can without losing a
  /// frame, unless it is its only one.
  func open(_ link: Int, _ opened: OpenedLink) {
    self.update { state in
      state.links[link]?.opened = self.clock.now()
      state.links[link]?.ring = opened.ring
      if link == state.current {
        state.open(opened)
        if link > 1 { state.outcomes.push(.connection(opened.event), topic: "connection") }
      } else if link == state.pending {
        state.next = (link, opened)
        state.requestKeyFrameForMove(at: self.clock.now())
      }
    }
  }

  /// The number of the connection on which messages are sent.
  var currentLink: Int { self.state.withLock { $0.current } }

  /// The time at which a connection was opened, on the session's clock, or `nil` before that.
  func opened(_ link: Int) -> Duration? { self.state.withLock { $0.links[link]?.opened } }

  /// The time of the last message on a connection, on the session's clock. The current time while
  /// the connection's messages wait for those of earlier connections.
  func lastActivity(on link: Int) -> Duration {
    self.state.withLock { $0.lastActivity(on: link, now: self.clock.now()) }
  }

  func recordActivity(on link: Int) {
    self.state.withLock { $0.links[link]?.lastActivity = self.clock.now() }
  }

  /// Records a notice of the server: at once on the current connection; on the connection of a move
  /// when the session moves to it; not at all on one that the session has left.
  private func note(on link: Int, _ notice: @escaping State.Notice) {
    self.update { state in
      if link == state.current {
        notice(&state)
      } else if link == state.pending {
        state.links[link]?.notices.append(notice)
      }
    }
  }

  /// Discards the connection of a move, because its server will end the session.
  private func refuseMove(to link: Int) {
    self.update { if $0.pending == link { $0.discardPending(isOutdated: false) } }
  }

  /// The shared memory of the current connection, if any.
  var ring: ClientRing? { self.state.withLock { $0.links[$0.current]?.ring } }

  /// Returns the shared memory of a connection, if any.
  func ring(of link: Int) -> ClientRing? { self.state.withLock { $0.links[link]?.ring } }

  // MARK: Moving

  /// Records that the server asks for a move, with a renewed resume token.
  func requestMove(_ request: MoveRequest, token: Data, on link: Int) {
    guard self.options.acceptsMove else { return }
    self.refuseMove(to: link)
    self.note(on: link) { state in
      if !token.isEmpty { state.changes.token = token }
      state.moveRequest = request
      state.isMoveAnnounced = true
    }
  }

  /// Waits for the next request to move.
  func waitForMove() async {
    await self.wait(for: .move)
    self.update { $0.isMoveAnnounced = false }
  }

  /// The server's request to move, until it is fulfilled.
  var moveRequest: MoveRequest? { self.state.withLock { $0.moveRequest } }

  /// Continues on the connection of a move after the loss of the current one. Discards it if it has
  /// not opened: its token lacks the changes since.
  ///
  /// - Returns: Whether the session continues on it.
  func adopt(_ link: Int) -> Bool {
    self.update { state in
      guard state.next?.link == link else {
        if state.pending == link { state.discardPending(isOutdated: true) }
        return false
      }
      state.move()
      return true
    }
  }

  /// Returns when the connection of a move is discarded, or the task is cancelled.
  func waitUntilDiscarded(_ link: Int) async {
    await self.wait(for: .discarded(link))
  }

  /// Whether connections that the session has left still return outcomes.
  var hasRetiredLinks: Bool { self.state.withLock { !$0.retired.isEmpty } }

  /// Records the end of a connection that is not the current one. Frames that it has not returned
  /// are lost.
  ///
  /// - Returns: Whether it was discarded because its resume token was outdated.
  func end(_ link: Int) -> Bool {
    self.update { state in
      defer { state.end(link) }
      return state.links[link]?.isOutdated ?? false
    }
  }

  /// Returns as soon as no earlier connection can have events that come before a connection's.
  func waitForEarlierOutputs(than link: Int) async {
    self.state.withLock { $0.links[link]?.isReaderWaiting = true }
    await self.wait(for: .outputs(link))
    self.state.withLock { state in
      state.links[link]?.isReaderWaiting = false
      state.links[link]?.lastActivity = self.clock.now()
    }
  }

  /// Returns how long frames in flight have waited without any message of the server, and a duration
  /// that few round trips exceed. `nil` without frames in flight, and before the first outcome.
  func stall(at now: Duration) -> (silence: Duration, usual: Duration)? {
    self.state.withLock { state in
      guard state.window.isOpen, let usual = state.roundTrip.upperBound,
        let oldest = state.sendTimes.filter({ $0.key >= state.firstSequence }).values.min()
      else { return nil }
      let lastActivity = state.lastActivity(on: state.current, now: now)
      return (now - max(oldest, lastActivity), usual)
    }
  }

  /// Sends a ping whose answer only shows that the server is there.
  func pushHeartbeat() {
    self.update { $0.window.pushUrgent(.ping(id: 0)) }
  }

  /// Waits for the next message and returns it. Returns `nil` at the end of this connection's
  /// messages, or if the task is cancelled.
  func nextMessage(on link: Int) async -> Window.Element? {
    while !Task.isCancelled {
      let next = self.update { state -> Window.Next in
        guard link >= state.current else { return .finished }
        guard link == state.current else { return .wait }
        let next = state.window.next(holdingControls: state.holdsControls)
        switch next {
        case .send(.control(let control)):
          state.recordSent(control, now: self.clock.now(), wall: self.wallTime)
        case .send(.frame(let frame, _)): state.sendTimes[frame.sequence] = self.clock.now()
        default: break
        }
        return next
      }
      switch next {
      case .send(let element): return element
      case .finished: return nil
      case .wait: await self.wait(for: .message(link))
      }
    }
    return nil
  }

  /// Returns the time since a frame was submitted, or `nil` if it is not known any more.
  func timeSinceSubmission(of sequence: UInt64) -> Duration? {
    let submitted = self.state.withLock { state in
      state.outcomes.pending(sequence)?.submitted ?? state.submitted[sequence]
    }
    return submitted.map { self.clock.now() - $0 }
  }

  /// Returns the frame of that number if its outcome is not known yet.
  func pending(_ sequence: UInt64) -> OutgoingFrame? {
    self.state.withLock { $0.outcomes.pending(sequence) }
  }

  /// Sets the outcome of a frame that came back.
  ///
  /// - Parameters:
  ///   - serverTime: The time that the server had the frame.
  ///   - link: The number of the connection.
  func resolve(_ frame: FilteredFrame, serverTime: Duration, on link: Int) {
    let now = self.clock.now()
    self.update { state in
      let sent = state.sendTimes.removeValue(forKey: frame.sequence)
      if let sent, link == state.current {
        state.window.recordTransit(now - sent - serverTime, at: now)
        state.roundTrip.record(now - sent)
      }
      state.window.recordOutcome(of: frame.sequence)
      if !self.options.outputs.isEmpty { state.keepSubmission(of: frame.sequence) }
      if link == state.current {
        state.fallbacks.record(
          frame.picture, revision: frame.revision, disposition: frame.disposition)
      }
      state.outcomes.resolve(
        frame.sequence, .outcome(.filtered(frame)), as: .filtered(frame.disposition))
    }
  }

  /// Sets the outcomes of frames dropped at the server.
  func resolve(
    _ range: ClosedRange<UInt64>, _ make: @Sendable (UInt64) -> DroppedFrame
  ) {
    self.update { state in
      for (sequence, _) in state.outcomes.pending(in: range) {
        state.sendTimes[sequence] = nil
        let frame = make(sequence)
        state.window.recordOutcome(of: sequence, dropped: frame.reason)
        state.outcomes.resolve(
          sequence, .outcome(.dropped(frame)), as: .dropped(frame.reason))
      }
    }
  }

  /// Adds an event other than an outcome.
  func push(_ event: SessionEvent, topic: String? = nil) {
    self.update { $0.outcomes.push(event, topic: topic) }
  }

  /// Adds an event that only the current connection reports.
  func push(_ event: SessionEvent, topic: String? = nil, on link: Int) {
    self.note(on: link) { $0.outcomes.push(event, topic: topic) }
  }

  /// Records the outcome of a composed frame, which this client has not sent.
  func recordComposed(_ outcome: FrameOutcome) {
    self.update { $0.outcomes.push(.outcome(outcome), as: FrameResult(outcome)) }
  }

  /// Records a change that the server accepted.
  func accept(_ change: AcceptedChange, on link: Int) {
    self.note(on: link) { state in
      guard !state.encoders.resolve(change.requestID, isAccepted: true),
        // A change of an encoder that a new connection repeats.
        change.requestID != 0
      else { return }
      state.changes.accept(change.requestID)
      state.outcomes.push(.accepted(change))
    }
  }

  /// Records a change that has taken effect.
  func apply(_ change: AppliedChange, token: Data, on link: Int) {
    self.note(on: link) { state in
      state.changes.apply(change.requestID)
      state.fallbacks.recordApplied(
        change.revision, requestID: change.requestID,
        protection: state.changes.confirmedProtection)
      if !token.isEmpty { state.changes.token = token }
      state.outcomes.push(.applied(change))
    }
  }

  /// Records a refused change.
  func reject(_ change: RejectedChange, on link: Int) {
    self.note(on: link) { state in
      var change = change
      if state.encoders.resolve(change.requestID, isAccepted: false) { change.requestID = 0 }
      if let replay = state.changes.reject(change.requestID) {
        state.window.push(.select(replay))
      }
      state.outcomes.push(.rejected(change))
    }
  }

  /// Records the session's state and the renewed resume token.
  ///
  /// - Parameter revision: The active revision.
  func record(_ new: SessionState, revision: UInt64, token: Data, on link: Int) {
    if new == .draining { self.refuseMove(to: link) }
    self.note(on: link) { state in
      if !token.isEmpty { state.changes.token = token }
      // The token of a move's connection says otherwise, and overrides belong to one server.
      let wasOverridden = state.fallbacks.isOverridden
      switch new {
      case .overridden:
        state.fallbacks.setOverride(revision)
        state.discardPending(isOutdated: true)
      case .running, .paused:
        state.fallbacks.endOverride(at: revision)
        if wasOverridden { state.discardPending(isOutdated: true) }
      case .draining:
        // Without reconnection the server decides the outcome of frames that are sent meanwhile.
        if self.options.reconnect != nil { state.window.drain() }
      case .other: break
      }
      guard new != state.lastState else { return }
      state.lastState = new
      state.outcomes.push(.state(new))
    }
  }

  func answerPing(_ id: UInt64, serverReceived: Int64, serverSent: Int64) {
    let now = self.clock.now()
    self.update { state in
      guard let sent = state.pings[id]?.sent else { return }
      // Measured using the monotonic clock, from the time at which the ping was sent.
      let elapsed = Int64(clamping: Int((now - sent.now) / .nanoseconds(1)))
      state.pings[id]?.answer = .success(
        ClockReading(
          sent: sent.wall, serverReceived: serverReceived, serverSent: serverSent,
          arrived: sent.wall + elapsed))
    }
  }

  /// Records that the connection is lost. Frames that were in flight or waited get their outcomes.
  func loseLink(_ event: ConnectionEvent) {
    self.update { state in
      state.lose()
      state.outcomes.push(.connection(event), topic: "connection")
    }
  }

  /// Records that the session is over.
  func end(_ result: Result<Void, any Error>) {
    self.update { state in
      state.window.abandon()
      for (link, _) in state.retired { state.end(link) }
      state.lose()
      let unopened = RPCError(code: .unavailable, message: "The session ended unopened.")
      state.opening = state.opening ?? result.flatMap { .failure(unopened) }
      state.outcomes.finish(result)
    }
  }
}
