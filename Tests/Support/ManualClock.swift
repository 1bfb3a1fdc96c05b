package import SidelightWire
import Synchronization

/// A clock that only the test advances.
package final class ManualClock: Sendable {
  private struct State {
    var now = Duration.seconds(1000)
    var nextWaiter = 0
    /// Callers that wait for another task to wait.
    var watchers: [Int: (within: Duration, continuation: CheckedContinuation<Void, Never>)] = [:]
    var waiters: [Int: (end: Duration, continuation: CheckedContinuation<Void, Never>)] = [:]

    mutating func number() -> Int {
      defer { self.nextWaiter += 1 }
      return self.nextWaiter
    }

    /// Returns the watchers for which a task waits now.
    mutating func takeSatisfiedWatchers() -> [CheckedContinuation<Void, Never>] {
      let satisfied = self.watchers.filter { watcher in
        self.waiters.values.contains { $0.end <= self.now + watcher.value.within }
      }
      for number in satisfied.keys { self.watchers[number] = nil }
      return satisfied.values.map(\.continuation)
    }
  }

  /// The time since 1970 when the clock shows zero.
  private static let epoch: UInt64 = 1_700_000_000_000_000_000
  private let state = Mutex(State())

  /// Creates a clock that shows 1,000 seconds.
  package init() {}

  /// The time that it shows.
  package var now: Duration { self.state.withLock { $0.now } }

  /// The clock for the server.
  package var sessionClock: SessionClock {
    SessionClock(
      now: { self.now },
      nanosecondsSince1970: {
        let (seconds, attoseconds) = self.now.components
        return Self.epoch + UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
      },
      wait: { await self.wait($0) })
  }

  /// Advances the clock.
  package func advance(by duration: Duration) {
    let due = self.state.withLock { state in
      state.now += duration
      let due = state.waiters.filter { $0.value.end <= state.now }
      for number in due.keys { state.waiters[number] = nil }
      return due.values.map(\.continuation) + state.takeSatisfiedWatchers()
    }
    for continuation in due { continuation.resume() }
  }

  /// Returns when a task waits for no more than the given time, or the caller is cancelled.
  package func awaited(within duration: Duration) async {
    let number = self.state.withLock { $0.number() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = self.state.withLock { state in
          let end = state.now + duration
          if Task.isCancelled || state.waiters.values.contains(where: { $0.end <= end }) {
            return true
          }
          state.watchers[number] = (duration, continuation)
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      self.state.withLock { $0.watchers.removeValue(forKey: number)?.continuation }?.resume()
    }
  }

  /// Advances the clock by the given time whenever a task waits for no more than that, until
  /// cancelled.
  package func tick(by duration: Duration) async {
    while !Task.isCancelled {
      await self.awaited(within: duration)
      if !Task.isCancelled { self.advance(by: duration) }
    }
  }

  /// Whether a task waits for just the given time from now.
  package func isAwaited(in duration: Duration) -> Bool {
    self.state.withLock { state in
      state.waiters.values.contains { $0.end == state.now + duration }
    }
  }

  /// Advances the clock by the given time whenever a task waits for no more than that, while `body`
  /// runs.
  package func ticking<Result>(
    by duration: Duration, _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await self.tick(by: duration) }
      defer { group.cancelAll() }
      return try await body()
    }
  }

  private func wait(_ duration: Duration) async {
    let number = self.state.withLock { $0.number() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // The tasks that continue now: watchers of such a wait, or a task that would have waited.
        let ready: [CheckedContinuation<Void, Never>] = self.state.withLock { state in
          guard !Task.isCancelled, duration > .zero else { return [continuation] }
          state.waiters[number] = (state.now + duration, continuation)
          return state.takeSatisfiedWatchers()
        }
        for continuation in ready { continuation.resume() }
      }
    } onCancel: {
      self.state.withLock { $0.waiters.removeValue(forKey: number)?.continuation }?.resume()
    }
  }
}
