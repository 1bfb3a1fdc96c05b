import SidelightClient
import SidelightWire
import Synchronization

/// A clock of the client that only the test moves; its random numbers are always a half.
final class ClientTestClock: Sendable {
  private struct State {
    var now = Duration.seconds(500)
    var nextWaiter = 0
    var waiters: [Int: (end: Duration, continuation: CheckedContinuation<Void, Never>)] = [:]
  }

  /// The time since 1970 when the clock shows zero.
  static let epoch: UInt64 = 1_600_000_000_000_000_000
  private let state = Mutex(State())
  private let (waits, waiting) = AsyncStream<Duration>.makeStream()

  var clock: SessionClock {
    SessionClock(
      now: { self.state.withLock { $0.now } },
      nanosecondsSince1970: {
        Self.epoch + UInt64(self.state.withLock { $0.now } / .nanoseconds(1))
      },
      wait: { await self.wait($0) })
  }

  /// Waits until a task waits for exactly this duration.
  func expectWait(_ duration: Duration) async {
    for await wait in self.waits where wait == duration { break }
  }

  /// Waits until a task waits for exactly this duration, runs `meanwhile`, and then lets that time
  /// pass.
  func pass(_ duration: Duration, _ meanwhile: () async -> Void = {}) async {
    await self.expectWait(duration)
    await meanwhile()
    let due = self.state.withLock { state in
      state.now += duration
      let due = state.waiters.filter { $0.value.end <= state.now }
      for number in due.keys { state.waiters[number] = nil }
      return due.values.map(\.continuation)
    }
    for continuation in due { continuation.resume() }
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
        if isReady { continuation.resume() } else { self.waiting.yield(duration) }
      }
    } onCancel: {
      self.state.withLock { $0.waiters.removeValue(forKey: number)?.continuation }?.resume()
    }
  }

  /// Runs a session on this clock.
  func withSession<Result: Sendable>(
    at addresses: [Address], _ options: SessionOptions,
    _ body: (FilterSession) async throws -> Result
  ) async throws -> Result {
    try await SidelightClient.connect(
      to: addresses, clock: self.clock, random: { 0.5 }
    ) { client in
      try await client.withSession(options, body)
    }
  }
}
