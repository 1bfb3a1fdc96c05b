import GRPCCore
import SidelightKernels
import Synchronization

/// What callers do.
extension SessionFlow {
  var id: String { self.state.withLock { $0.id } }

  var counts: OutcomeCounts { self.state.withLock { $0.ledger.counts } }

  /// Takes a frame in; waits for room if none may be dropped.
  ///
  /// - Returns: Its number; `nil` if the session is over or the task is cancelled. The frame was then
  ///   not taken in.
  func offer(_ make: @Sendable (UInt64) -> OutgoingFrame) async -> UInt64? {
    while true {
      switch self.update({ $0.offer(make) }) {
      case .accept(let sequence, _), .disconnected(let sequence): return sequence
      case .refuse: return nil
      case .wait: await self.wait(for: .room)
      }
      if Task.isCancelled { return nil }
    }
  }

  /// - Returns: The change's number.
  func change(_ change: PipelineChange, ifRevision revision: UInt64?) -> UInt64 {
    self.update { state in
      let isKept = state.window.isOpen || state.window.keepsForNextLink
      let requestID = state.journal.record(
        change, isConditional: revision != nil, isSent: !isKept)
      if isKept {
        state.window.push(.change(change, ifRevision: revision, requestID: requestID))
      } else {
        // Asked for when the session is open again.
        state.rejectConditionalChanges()
      }
      return requestID
    }
  }

  func setPause(_ pause: SelectionJournal.Pause) {
    self.update { state in
      if state.window.isOpen || state.window.keepsForNextLink {
        state.window.push(.pause(pause))
      } else {
        state.journal.pause = pause
      }
    }
  }

  /// - Throws: `RPCError` with UNAVAILABLE if there is no connection; `CancellationError`.
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

  /// What to tell next; waits for it. `nil` at the end.
  ///
  /// - Throws: Why the session ended, if not as it should; `CancellationError`.
  func nextEvent() async throws -> SessionEvent? {
    while true {
      switch self.update({ $0.nextEvent(acknowledges: self.options.outputWindow != nil) }) {
      case .told(.event(let event)), .told(.outcome(let event, _, _)): return event
      case .told(.dropped(let sequence, let reason)):
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
