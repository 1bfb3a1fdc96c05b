import Synchronization

/// Tells one waiting task that something is done.
final class Completion: Sendable {
  private enum State {
    case pending
    case waiting(CheckedContinuation<Void, Never>)
    case over
  }

  private let state = Mutex(State.pending)

  /// Whether ``finish()`` was called.
  var isOver: Bool { self.state.withLock { if case .over = $0 { true } else { false } } }

  /// It is done. Later calls do nothing.
  func finish() {
    let waiting: CheckedContinuation<Void, Never>? = self.state.withLock { state in
      defer { state = .over }
      if case .waiting(let continuation) = state { return continuation }
      return nil
    }
    waiting?.resume()
  }

  /// Returns when it is done.
  func wait() async {
    await self.waitUntilWoken(or: Completion())
  }

  /// Returns when it is done, or when the clock says that it has taken too long.
  ///
  /// - Returns: Whether it is done.
  func wait(atMost limit: Duration, on clock: SessionClock) async -> Bool {
    await withTaskGroup(of: Void.self) { group in
      // A timer that ends early because it was cancelled must not look like one that ran out.
      let timer = Completion()
      // Not where the caller works: what does not get done may have taken up every thread there is.
      group.addTask(executorPreference: globalConcurrentExecutor) {
        await clock.wait(limit)
        timer.finish()
        self.wake()
      }
      await self.waitUntilWoken(or: timer)
      group.cancelAll()
    }
    return self.isOver
  }

  private func waitUntilWoken(or timer: Completion) async {
    await withCheckedContinuation { continuation in
      let isReady = self.state.withLock { state in
        guard case .pending = state, !timer.isOver else { return true }
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
