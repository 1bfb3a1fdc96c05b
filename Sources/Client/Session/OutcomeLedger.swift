import Synchronization

/// The fates of frames, in the order in which the frames were given. One task takes them.
package final class OutcomeLedger<PendingFrame: Sendable, Event: Sendable>: Sendable {
  private struct State: ~Copyable {
    var machine = StateMachine()
    var consumer: CheckedContinuation<Void, Never>?
    /// Whether something changed since the consumer last looked.
    var hasNews = false
  }

  private let state = Mutex(State())

  /// What is told.
  package enum Entry: Sendable {
    /// A message of the server; for a frame's fate, taking it returns a credit.
    case event(Event, isCredit: Bool)
    /// A frame that was displaced before it was sent.
    case displaced(UInt64)
  }

  /// A frame is given.
  package func add(_ frame: PendingFrame, sequence: UInt64) {
    self.state.withLock { $0.machine.add(frame, sequence: sequence) }
  }

  /// A frame was displaced before it was sent.
  package func displace(_ sequence: UInt64) {
    self.update { $0.displace(sequence) }
  }

  /// The frame of that number, if its fate is not known yet.
  package func pending(_ sequence: UInt64) -> PendingFrame? {
    self.state.withLock { $0.machine.pending(sequence) }
  }

  /// The numbers of the frames within a range whose fate is not known yet.
  package func pending(in range: ClosedRange<UInt64>) -> [UInt64] {
    self.state.withLock { $0.machine.pending(in: range) }
  }

  /// A frame's fate is known.
  package func resolve(_ sequence: UInt64, _ event: Event) {
    self.update { $0.resolve(sequence, event) }
  }

  /// Something else is told.
  package func tell(_ event: Event) {
    self.update { $0.tell(event) }
  }

  /// Nothing more will be told.
  package func finish(_ end: Result<Void, any Error>) {
    self.update { $0.finish(end) }
  }

  /// What to tell next; waits for it. `nil` at the end.
  ///
  /// - Throws: Why the session ended, if not as it should; `CancellationError` if the task is cancelled.
  package func next() async throws -> Entry? {
    while true {
      let next = self.state.withLock { state in
        state.hasNews = false
        return state.machine.next()
      }
      switch next {
      case .event(let event, let isCredit): return .event(event, isCredit: isCredit)
      case .displaced(let sequence): return .displaced(sequence)
      case .end(let end):
        try end.get()
        return nil
      case .wait:
        try Task.checkCancellation()
        await self.waitForChange()
      }
    }
  }

  private func waitForChange() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = self.state.withLock { state in
          guard !Task.isCancelled, !state.hasNews else { return false }
          state.consumer = continuation
          return true
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      let consumer = self.state.withLock { state in
        state.consumer.take()
      }
      consumer?.resume()
    }
  }

  private func update(_ body: (inout StateMachine) -> Void) {
    let consumer = self.state.withLock { state in
      body(&state.machine)
      state.hasNews = true
      return state.consumer.take()
    }
    consumer?.resume()
  }
}
