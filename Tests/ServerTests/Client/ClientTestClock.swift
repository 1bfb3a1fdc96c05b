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

  /// Waits until a task waits for exactly this duration, runs `meanwhile`, and then lets that time
  /// pass.
  func pass(_ duration: Duration, _ meanwhile: () async -> Void = {}) async {
    for await wait in self.waits where wait == duration { break }
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

/// The events of a session, as one task receives them.
struct ReceivedEvents {
  private var iterator: any AsyncIteratorProtocol<SessionEvent, any Error>
  /// The numbers of the frames whose outcome was reported.
  private(set) var outcomes: [UInt64] = []

  init(_ session: FilterSession) {
    self.iterator = session.events.makeAsyncIterator()
  }

  /// Returns the next event for which `select` returns a value. `nil` at the end.
  mutating func next<Result>(
    _ select: (SessionEvent) -> Result?
  ) async throws -> Result? {
    while let event = try await self.iterator.next(isolation: nil) {
      if case .outcome(let outcome) = event { self.outcomes.append(outcome.sequence) }
      if let result = select(event) { return result }
    }
    return nil
  }

  mutating func outcome() async throws -> FrameOutcome? {
    try await self.next { if case .outcome(let outcome) = $0 { outcome } else { nil } }
  }

  mutating func filtered() async throws -> FilteredFrame? {
    try await self.next { if case .outcome(.filtered(let frame)) = $0 { frame } else { nil } }
  }

  mutating func dropped() async throws -> DroppedFrame? {
    try await self.next { if case .outcome(.dropped(let frame)) = $0 { frame } else { nil } }
  }

  mutating func state() async throws -> SessionState? {
    try await self.next { if case .state(let state) = $0 { state } else { nil } }
  }

  mutating func accepted() async throws -> AcceptedChange? {
    try await self.next { if case .accepted(let change) = $0 { change } else { nil } }
  }

  mutating func applied() async throws -> AppliedChange? {
    try await self.next { if case .applied(let change) = $0 { change } else { nil } }
  }

  mutating func rejected() async throws -> RejectedChange? {
    try await self.next { if case .rejected(let change) = $0 { change } else { nil } }
  }

  /// The wait before the next attempt to connect.
  mutating func interrupted() async throws -> Duration? {
    try await self.next {
      if case .connection(.interrupted(_, _, let delay)) = $0 { delay } else { nil }
    }
  }

  /// The address at which the session continues, and whether its state was restored.
  mutating func restored() async throws -> (address: Address, isResumed: Bool)? {
    try await self.next {
      if case .connection(.restored(let address, let isResumed)) = $0 {
        (address, isResumed)
      } else {
        nil
      }
    }
  }

  /// Takes the rest.
  ///
  /// - Throws: The error that ended the session.
  mutating func drain() async throws {
    while try await self.next({ _ in nil as Never? }) != nil {}
  }
}

extension OutcomeCounts {
  /// The frames that have an outcome.
  var decided: UInt64 {
    self.filtered + self.passedThrough + self.degraded + self.dropped.values.reduce(0, +)
  }
}
