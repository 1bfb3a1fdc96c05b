import GRPCCore
import SidelightWire
import SwiftProtobuf
import Synchronization

/// The state that a session's callers, its connection and the reader of its events share: the
/// window, the outcomes and the requested changes under one lock, and the tasks that wait for them.
final class SessionFlow: Sendable {
  typealias Window = SendWindow<OutgoingFrame, Control>
  typealias Outcomes = ClientOutcomeQueue<OutgoingFrame, SessionEvent>

  let options: SessionOptions
  let clock: SessionClock
  let state: Mutex<State>

  init(options: SessionOptions, clock: SessionClock) {
    self.options = options
    self.clock = clock
    self.state = Mutex(
      State(
        window: Window(policy: options.dropPolicy),
        changes: PipelineChangeLog(pipeline: options.pipeline),
        encoders: EncoderChangeLog(composition: options.composition),
        fallbacks: FallbackPictureSource(policy: options.reconnect?.failOpen ?? .nothing)))
  }

  var wallTime: Int64 { Int64(clamping: self.clock.nanosecondsSince1970()) }

  static let disconnected = RPCError(
    code: .unavailable, message: "There is no connection.")

  /// Changes the state, and resumes the tasks whose condition that satisfies.
  func update<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var woken: [Waiter] = []
    let result: Swift.Result<Result, Failure> = self.state.withLock { state in
      let result: Swift.Result<Result, Failure>
      do throws(Failure) {
        result = .success(try body(&state))
      } catch {
        result = .failure(error)
      }
      state.moveIfPossible()
      woken = state.takeSatisfiedWaiters()
      return result
    }
    for waiter in woken { waiter.continuation.resume() }
    return try result.get()
  }

  /// Returns when the condition is satisfied, at least for a moment, or the task is cancelled.
  func wait(for condition: WaitCondition) async {
    let number = self.state.withLock { state in
      defer { state.nextWaiter += 1 }
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = self.state.withLock { state in
          guard !Task.isCancelled, !state.isSatisfied(condition) else { return false }
          state.waiting.append(
            Waiter(number: number, condition: condition, continuation: continuation))
          return true
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      let continuation = self.state.withLock { state in
        state.waiting.firstIndex { $0.number == number }.map {
          state.waiting.remove(at: $0).continuation
        }
      }
      continuation?.resume()
    }
  }
}

// MARK: - Callers

extension SessionFlow {
  var id: String { self.state.withLock { $0.id } }

  var counts: OutcomeCounts { self.state.withLock { $0.outcomes.counts } }

  /// Offers a frame; waits for capacity if frames may not be dropped.
  ///
  /// - Returns: Its number, or `nil` if it was not accepted because the session is over or the task
  ///   is cancelled.
  func offer(
    as role: StreamRole, mustProcess: Bool, _ make: @Sendable (UInt64) -> OutgoingFrame
  ) async -> UInt64? {
    // The server would end the session.
    guard self.options.composition == nil else { return nil }
    while true {
      switch self.update({ $0.offer(as: role, mustProcess: mustProcess, make) }) {
      case .accept(let sequence, _), .disconnected(let sequence), .undecodable(let sequence, _, _):
        return sequence
      case .refuse: return nil
      case .wait: await self.wait(for: .capacity)
      }
      if Task.isCancelled { return nil }
    }
  }

  /// Requests a change.
  ///
  /// - Parameters:
  ///   - isConditional: Whether it requires a revision.
  ///   - describe: Sets the content of the message with the change's number.
  /// - Returns: Its number.
  func change(
    _ change: PipelineChange, isConditional: Bool,
    _ describe: (_ message: inout Sidelight_V1_ClientMessage, _ requestID: UInt64) -> Void
  ) -> UInt64 {
    self.update { state in
      let isKept = state.window.isOpen || state.window.keepsForNextLink
      let requestID = state.changes.record(
        change, isConditional: isConditional, isSent: !isKept)
      if isKept {
        var message = Sidelight_V1_ClientMessage()
        describe(&message, requestID)
        state.window.push(.change(message, requestID: requestID))
      } else {
        // Requested when the session is open again.
        state.rejectConditionalChanges()
      }
      return requestID
    }
  }

  func setPause(_ pause: PipelineChangeLog.Pause) {
    self.update { state in
      if state.window.isOpen || state.window.keepsForNextLink {
        state.window.push(.pause(pause))
      } else {
        state.changes.pause = pause
      }
    }
  }

  /// Changes the settings of the encoder, on this connection and on later ones.
  func setEncoder(of output: String, _ describe: (inout Sidelight_V1_SetEncoder) -> Void) {
    self.update { state in
      var change = Sidelight_V1_SetEncoder.with { $0.output = output }
      describe(&change)
      let isOpen = state.window.isOpen
      change = state.encoders.record(change, isSent: isOpen)
      if isOpen { state.window.push(.setEncoder(change)) }
    }
  }

  /// Changes the composition, on this connection and on later ones.
  func setComposition(_ composition: CompositionOptions) {
    self.update { state in
      let change = state.encoders.record(composition)
      if state.window.isOpen { state.window.push(.setComposition(change)) }
    }
  }

  func requestKeyFrame(output: String) {
    self.update { if $0.window.isOpen { $0.window.pushUrgent(.requestKeyFrame(output: output)) } }
  }

  /// Measures the round trip to the server and the offset of its clock.
  ///
  /// - Throws: `RPCError` with UNAVAILABLE while disconnected; `CancellationError`.
  func ping() async throws -> ClockReading {
    try Task.checkCancellation()
    let id = try self.update { state in
      guard state.window.isOpen else { throw Self.disconnected }
      defer { state.nextPing += 1 }
      state.pings[state.nextPing] = Ping()
      state.window.pushUrgent(.ping(id: state.nextPing))
      return state.nextPing
    }
    await self.wait(for: .pong(id))
    guard let answer = self.update({ $0.pings.removeValue(forKey: id) })?.answer else {
      throw CancellationError()
    }
    return try answer.get()
  }

  func finish() {
    self.update { $0.window.finish() }
  }

  /// Gives the events to the caller's iterator, which must be the first.
  ///
  /// - Throws: ``SessionAlreadyIteratedError`` if another iterator has them.
  func claimEvents() throws {
    try self.state.withLock { state in
      guard !state.isIterated else { throw SessionAlreadyIteratedError() }
      state.isIterated = true
    }
  }

  /// Waits for the next event and returns it, or `nil` at the end.
  ///
  /// - Throws: The error that ended the session; `CancellationError`.
  func nextEvent() async throws -> SessionEvent? {
    while true {
      switch self.update({ $0.nextEvent(acknowledges: self.options.window != nil) }) {
      case .item(.event(let event)), .item(.outcome(let event, _, _)): return event
      case .item(.dropped(let sequence, let reason)):
        return .outcome(
          .dropped(
            DroppedFrame(
              sequence: sequence, reason: reason,
              stage: reason == .connectionLost ? .unknown : .client)))
      case .end(let end):
        try end.get()
        return nil
      case .wait:
        try Task.checkCancellation()
        await self.wait(for: .event)
      }
    }
  }
}
