import Synchronization

/// A barrier: all participants start when all sessions are open.
final class StartBarrier: Sendable {
  private struct State {
    var missing: Int
    var start: ContinuousClock.Instant?
    var waiting: [CheckedContinuation<Void, Never>] = []
    var isCancelled = false
  }

  private let state: Mutex<State>

  /// - Parameter count: The number of waiting participants.
  init(count: Int) {
    self.state = Mutex(State(missing: count))
  }

  /// Waits for all participants.
  ///
  /// - Returns: The time of the start.
  /// - Throws: `CancellationError` if any participant is cancelled.
  func wait() async throws -> ContinuousClock.Instant {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let released = self.state.withLock { state in
          state.missing -= 1
          state.waiting.append(continuation)
          guard state.missing == 0 || state.isCancelled else {
            return [CheckedContinuation<Void, Never>]()
          }
          state.start = .now + .milliseconds(50)
          defer { state.waiting = [] }
          return state.waiting
        }
        for continuation in released { continuation.resume() }
      }
    } onCancel: {
      let waiting = self.state.withLock { state in
        state.isCancelled = true
        defer { state.waiting = [] }
        return state.waiting
      }
      for continuation in waiting { continuation.resume() }
    }
    guard let start = self.state.withLock({ $0.isCancelled ? nil : $0.start }) else {
      throw CancellationError()
    }
    return start
  }
}
