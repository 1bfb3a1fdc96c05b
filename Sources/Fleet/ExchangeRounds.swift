import SidelightServer
import Synchronization

/// Exchanges the use of callers' quotas in rounds: requests that come during a round share the next
/// one, however many sessions open at a time.
final class QuotaRounds: QuotaExchange {
  private struct State {
    /// Begins a round; `nil` without a connection to etcd.
    var wake: AsyncStream<Void>.Continuation?
    /// The callers of the next round.
    var callers: Set<String> = []
    /// The requests that wait for its end.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func exchange(_ caller: String) async {
    await withCheckedContinuation { continuation in
      let isConnected = self.state.withLock { state in
        guard let wake = state.wake else { return false }
        state.callers.insert(caller)
        state.waiting.append(continuation)
        wake.yield()
        return true
      }
      if !isConnected { continuation.resume() }
    }
  }

  func note(_ caller: String) { self.note([caller]) }

  /// Adds callers to the next round, for which no request waits.
  func note(_ callers: Set<String>) {
    self.state.withLock { state in
      guard let wake = state.wake, !callers.isEmpty else { return }
      state.callers.formUnion(callers)
      wake.yield()
    }
  }

  /// Runs rounds until one fails or the task is cancelled. Requests don't wait afterwards.
  ///
  /// - Parameters:
  ///   - callers: The callers of the first round.
  ///   - exchange: Exchanges the use of a caller. Runs for several callers at a time.
  func run(
    _ callers: Set<String>, _ exchange: @escaping @Sendable (String) async throws -> Void
  ) async throws {
    let (wakes, wake) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.state.withLock { $0.wake = wake }
    defer {
      self.state.withLock { $0.wake = nil }
      for request in self.begin().waiting { request.resume() }
    }
    self.note(callers)
    for await _ in wakes {
      let (callers, waiting) = self.begin()
      defer { for request in waiting { request.resume() } }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for caller in callers { group.addTask { try await exchange(caller) } }
        try await group.waitForAll()
      }
    }
  }

  /// Returns the callers and requests of the next round, which begins.
  private func begin() -> (callers: Set<String>, waiting: [CheckedContinuation<Void, Never>]) {
    self.state.withLock { state in
      defer { (state.callers, state.waiting) = ([], []) }
      return (state.callers, state.waiting)
    }
  }
}
