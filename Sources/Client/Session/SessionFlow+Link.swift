import Foundation
import GRPCCore
import SidelightKernels
import Synchronization

/// What a session's connections do.
extension SessionFlow {
  /// - Throws: Why the session could not be opened; `CancellationError`.
  func waitUntilOpened() async throws {
    await self.wait(for: .opening)
    try Task.checkCancellation()
    try self.state.withLock { $0.opening }?.get()
  }

  /// Whether nothing is left to open a connection for.
  var isDrained: Bool { self.state.withLock { $0.window.isDrained } }

  /// Returns when nothing is left to open a connection for, or the task is cancelled.
  func waitUntilDrained() async {
    await self.wait(for: .drained)
  }

  /// A connection is about to be opened.
  ///
  /// - Returns: What to open with; the token only if `usesToken`.
  func startOpening(usesToken: Bool) -> (pipeline: Pipeline, token: Data?) {
    self.update { state in
      state.window.startOpening()
      state.linkOpened = nil
      state.lastHeard = self.clock.now()
      return (state.journal.pipeline, usesToken ? state.journal.token : nil)
    }
  }

  /// The connection stands.
  func open(id: String, framesInFlight: Int, token: Data) {
    self.update { state in
      state.id = id
      state.linkOpened = self.clock.now()
      state.journal.token = token.isEmpty ? nil : token
      // An override that still stands is told of anew.
      state.standIns.noteConnection()
      state.lastState = .running
      var controls: [Control] = []
      if let replay = state.journal.takeReplay() { controls.append(.select(replay)) }
      if let pause = state.journal.pause { controls.append(.pause(pause)) }
      state.window.open(capacity: framesInFlight, first: controls)
      state.opening = state.opening ?? .success(())
    }
  }

  /// When the connection that was opened last stood, on the session's clock; `nil`: it never did.
  var linkOpened: Duration? { self.state.withLock { $0.linkOpened } }

  /// When the server said something last, on the session's clock.
  var lastHeard: Duration { self.state.withLock { $0.lastHeard } }

  /// The server says something.
  func hear() {
    self.state.withLock { $0.lastHeard = self.clock.now() }
  }

  /// Asks for a sign of life.
  func pushHeartbeat() {
    self.update { $0.window.pushUrgent(.ping(id: 0)) }
  }

  /// What to send next; waits for it. `nil` when there will be nothing on this connection any more, or
  /// when the task is cancelled.
  func nextMessage() async -> Window.Element? {
    while !Task.isCancelled {
      let next = self.update { state in
        let next = state.window.next()
        if case .send(.control(let control)) = next {
          state.noteSent(control, now: self.clock.now(), wall: self.wallTime)
        }
        return next
      }
      switch next {
      case .send(let element): return element
      case .finished: return nil
      case .wait: await self.wait(for: .message)
      }
    }
    return nil
  }

  /// The frame of that number, if its fate is not known yet.
  func pending(_ sequence: UInt64) -> OutgoingFrame? {
    self.state.withLock { $0.ledger.pending(sequence) }
  }

  /// A frame came back.
  func resolve(_ frame: MadeFrame) {
    self.update { state in
      state.standIns.note(frame.picture, revision: frame.revision)
      state.ledger.resolve(
        frame.sequence, .outcome(.made(frame)), as: .made(frame.disposition))
    }
  }

  /// The frames of a range did not come back.
  func resolve(
    _ range: ClosedRange<UInt64>, _ make: @Sendable (UInt64) -> DroppedFrame
  ) {
    self.update { state in
      for (sequence, _) in state.ledger.pending(in: range) {
        let frame = make(sequence)
        state.ledger.resolve(
          sequence, .outcome(.dropped(frame)), as: .dropped(frame.reason))
      }
    }
  }

  func tell(_ event: SessionEvent, topic: String? = nil) {
    self.update { $0.ledger.tell(event, topic: topic) }
  }

  /// A change is in force.
  func apply(_ change: AppliedChange, token: Data) {
    self.update { state in
      state.journal.apply(change.requestID)
      if !token.isEmpty { state.journal.token = token }
      state.ledger.tell(.applied(change))
    }
  }

  /// A change was refused.
  func reject(_ change: RejectedChange) {
    self.update { state in
      if let replay = state.journal.reject(change.requestID) {
        state.window.push(.select(replay))
      }
      state.ledger.tell(.rejected(change))
    }
  }

  /// The session's life took a turn, or the token was renewed.
  ///
  /// - Parameter revision: The one in force.
  func note(_ new: SessionState, revision: UInt64, token: Data) {
    self.update { state in
      if !token.isEmpty { state.journal.token = token }
      switch new {
      case .overridden: state.standIns.note(override: revision)
      case .running, .paused: state.standIns.note(override: nil)
      case .draining:
        // Without another server to go to, what is sent meanwhile is the server's to answer.
        if self.options.reconnect != nil { state.window.drain() }
      case .other: break
      }
      guard new != state.lastState else { return }
      state.lastState = new
      state.ledger.tell(.state(new))
    }
  }

  /// A ping was answered.
  func answerPing(_ id: UInt64, serverReceived: Int64, serverSent: Int64) {
    let now = self.clock.now()
    self.update { state in
      guard let sent = state.pings[id]?.sent else { return }
      // By the clock that does not jump, from when the ping left.
      let elapsed = Int64(clamping: Int((now - sent.now) / .nanoseconds(1)))
      state.pings[id]?.answer = .success(
        ClockReading(
          sent: sent.wall, serverReceived: serverReceived, serverSent: serverSent,
          arrived: sent.wall + elapsed))
    }
  }

  /// The connection is gone. Frames that were in flight or waited get their outcomes.
  func loseLink(_ event: ConnectionEvent) {
    self.update { state in
      state.lose()
      state.ledger.tell(.connection(event), topic: "connection")
    }
  }

  /// The session is over.
  func end(_ result: Result<Void, any Error>) {
    self.update { state in
      state.window.abandon()
      state.lose()
      let unopened = RPCError(code: .unavailable, message: "The session ended unopened.")
      state.opening = state.opening ?? result.flatMap { .failure(unopened) }
      state.ledger.finish(result)
    }
  }
}
