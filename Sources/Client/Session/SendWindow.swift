import Synchronization

/// What stands between the caller and the wire: frames wait here for a credit, newest wins.
///
/// Credits bound the frames in flight in messages. Bytes alone would not: compressed frames would
/// pile up seconds deep in flow-control windows that are sized for raw ones.
package final class SendWindow<PendingFrame: Sendable, Control: Sendable>: Sendable {
  private struct State: ~Copyable {
    var machine: StateMachine
    var sender: CheckedContinuation<StateMachine.Element?, Never>?
    var producer: CheckedContinuation<Void, Never>?
    var isCancelled = false
  }

  private let state: Mutex<State>

  package init(policy: SessionOptions.DropPolicy) {
    self.state = Mutex(State(machine: StateMachine(policy: policy)))
  }

  /// What an offer came to.
  package enum Offer: Sendable {
    /// It will be sent, in place of the displaced one if there is one.
    case accepted(displaced: PendingFrame?)
    /// The session is over.
    case refused
  }

  /// Takes a frame in; waits for room if none may be dropped. One task offers at a time.
  package func offer(_ frame: PendingFrame) async -> Offer {
    while true {
      switch self.update({ $0.offer(frame) }) {
      case .accept(let displaced): return .accepted(displaced: displaced)
      case .refuse: return .refused
      case .wait: await self.waitUntilSent()
      }
      guard !Task.isCancelled else { return .refused }
    }
  }

  /// Takes another message in.
  package func push(_ control: Control) {
    self.update { $0.push(control) }
  }

  /// Makes room for frames.
  package func addCredits(_ count: Int) {
    self.update { $0.addCredits(count) }
  }

  /// No more is given; what is in still goes.
  package func finish() {
    self.update { $0.finish() }
  }

  /// Whoever waits stops waiting, and ``next()`` ends at once.
  package func cancel() {
    let (sender, producer) = self.state.withLock { state in
      state.isCancelled = true
      state.machine.finish()
      return (state.sender.take(), state.producer.take())
    }
    sender?.resume(returning: nil)
    producer?.resume()
  }

  /// What to send next; waits for it. `nil` when there will be nothing any more.
  package func next() async -> StateMachine.Element? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (element, isReady, producer) = self.state.withLock { state in
          guard !state.isCancelled else {
            return (StateMachine.Element?.none, true, state.producer.take())
          }
          switch state.machine.next() {
          case .send(let element): return (element, true, state.producer.take())
          case .finished: return (nil, true, state.producer.take())
          case .wait:
            state.sender = continuation
            return (nil, false, nil)
          }
        }
        producer?.resume()
        if isReady { continuation.resume(returning: element) }
      }
    } onCancel: {
      self.cancel()
    }
  }

  private func waitUntilSent() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = self.state.withLock { state in
          guard !state.isCancelled, state.machine.isFrameWaiting else { return false }
          state.producer = continuation
          return true
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      self.cancel()
    }
  }

  /// Changes the machine, and wakes the sender if there is something for it.
  private func update<Result: Sendable>(
    _ body: (inout StateMachine) -> Result
  ) -> Result {
    let (result, sender, element, producer) = self.state.withLock { state in
      let result = body(&state.machine)
      guard let sender = state.sender.take() else {
        return (
          result, CheckedContinuation<StateMachine.Element?, Never>?.none,
          StateMachine.Element?.none, CheckedContinuation<Void, Never>?.none
        )
      }
      switch state.machine.next() {
      case .send(let element): return (result, sender, element, state.producer.take())
      case .finished: return (result, sender, nil, state.producer.take())
      case .wait:
        state.sender = sender
        return (result, nil, nil, nil)
      }
    }
    sender?.resume(returning: element)
    producer?.resume()
    return result
  }
}
