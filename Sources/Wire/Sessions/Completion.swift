import Synchronization

/// An event that occurs once, and that one task can wait for.
package final class Completion: Sendable {
  private enum State {
    case pending
    case waiting(CheckedContinuation<Void, Never>)
    case finished
  }

  private let state = Mutex(State.pending)

  package init() {}

  /// Whether ``finish()`` was called.
  package var isFinished: Bool {
    self.state.withLock { if case .finished = $0 { true } else { false } }
  }

  /// Marks the event as occurred. Later calls have no effect.
  package func finish() {
    let waiting: CheckedContinuation<Void, Never>? = self.state.withLock { state in
      defer { state = .finished }
      if case .waiting(let continuation) = state { return continuation }
      return nil
    }
    waiting?.resume()
  }

  /// Returns when the event has occurred.
  package func wait() async {
    await self.waitUntilWoken(or: Completion())
  }

  /// Returns when the event has occurred, or after a time limit.
  ///
  /// - Returns: Whether the event has occurred.
  package func wait(atMost limit: Duration, on clock: SessionClock) async -> Bool {
    await withTaskGroup(of: Void.self) { group in
      // Set when the timer ends, for waiters that register later.
      let timer = Completion()
      // Not on the caller's executor, whose threads may all be occupied by the work that is waited
      // for.
      group.addTask(executorPreference: globalConcurrentExecutor) {
        await clock.wait(limit)
        timer.finish()
        self.wake()
      }
      await self.waitUntilWoken(or: timer)
      group.cancelAll()
    }
    return self.isFinished
  }

  private func waitUntilWoken(or timer: Completion) async {
    await withCheckedContinuation { continuation in
      let isReady = self.state.withLock { state in
        guard case .pending = state, !timer.isFinished else { return true }
        state = .waiting(continuation)
        return false
      }
      if isReady { continuation.resume() }
    }
  }

  private func wake() {
    let waiting: CheckedContinuation<Void, Never>? = self.state.withLock { state in
      guard case .waiting(let continuation) = state else { return nil }
      state = .pending
      return continuation
    }
    waiting?.resume()
  }
}
