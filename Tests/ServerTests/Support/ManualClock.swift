import SidelightServer
import Synchronization

/// A clock that only the test moves.
final class ManualClock: Sendable {
  private struct State {
    var now = Duration.seconds(1000)
    var nextWaiter = 0
    var waiters: [Int: (end: Duration, continuation: CheckedContinuation<Void, Never>)] = [:]
  }

  /// The time since 1970 when the clock shows zero.
  private static let epoch: UInt64 = 1_700_000_000_000_000_000
  private let state = Mutex(State())

  var now: Duration { self.state.withLock { $0.now } }

  /// For the server.
  var sessionClock: SessionClock {
    SessionClock(
      now: { self.now },
      nanosecondsSince1970: {
        let (seconds, attoseconds) = self.now.components
        return Self.epoch + UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
      },
      wait: { await self.wait($0) })
  }

  /// Time passes.
  func advance(by duration: Duration) {
    let due = self.state.withLock { state in
      state.now += duration
      let due = state.waiters.filter { $0.value.end <= state.now }
      for number in due.keys { state.waiters[number] = nil }
      return due.values.map(\.continuation)
    }
    for continuation in due { continuation.resume() }
  }

  /// Returns when a task waits for no more than the given time, or the caller is cancelled.
  func awaited(within duration: Duration) async {
    while !Task.isCancelled,
      !self.state.withLock({ state in
        state.waiters.values.contains { $0.end <= state.now + duration }
      })
    { await Task.yield() }
  }

  /// Lets the given time pass whenever a task waits for no more than that; until cancelled.
  func tick(by duration: Duration) async {
    while !Task.isCancelled {
      await self.awaited(within: duration)
      if !Task.isCancelled { self.advance(by: duration) }
    }
  }

  private func wait(_ duration: Duration) async {
    let number = self.state.withLock { state in
      defer { state.nextWaiter += 1 }
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = self.state.withLock { state in
          guard !Task.isCancelled, duration > .zero else { return true }
          state.waiters[number] = (state.now + duration, continuation)
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      self.state.withLock { $0.waiters.removeValue(forKey: number)?.continuation }?.resume()
    }
  }
}
