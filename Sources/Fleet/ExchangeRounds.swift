import SidelightServer
import Synchronization

/// The rounds in which a server exchanges its state with the others, for the server.
final class FleetRounds: FleetExchange {
  /// The time for which a request waits until the other servers can read its override.
  private static let overrideTimeout = Duration.seconds(1)

  /// The rounds of callers' quotas.
  let quotas = ExchangeRounds()
  /// The rounds of all overrides together.
  let overrides = ExchangeRounds()

  func exchange(_ caller: String) async { _ = await self.quotas.exchange(caller) }

  func note(_ caller: String) { self.quotas.note([caller]) }

  func shareOverrides() async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      group.addTask { await self.overrides.exchange("") }
      group.addTask {
        try? await Task.sleep(for: Self.overrideTimeout)
        return false
      }
      defer { group.cancelAll() }
      return await group.next() ?? false
    }
  }
}

/// Exchanges state by subject, such as a caller, in rounds: requests that come during a round share
/// the next one, however many sessions open at a time.
final class ExchangeRounds: Sendable {
  private struct Request {
    var subject: String
    /// Receives whether the exchange succeeded.
    var continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    /// Begins a round; `nil` without a connection to etcd.
    var wake: AsyncStream<Void>.Continuation?
    /// The subjects of the next round.
    var subjects: Set<String> = []
    /// The subjects whose last exchange failed, for which no request waits.
    var failed: Set<String> = []
    /// The requests that wait for the next round and for the current one.
    var waiting: [UInt64: Request] = [:]
    var running: [UInt64: Request] = [:]
    var nextNumber: UInt64 = 0
  }

  private let state = Mutex(State())

  /// Waits until a subject is exchanged in a round that begins later. Returns at once if the last
  /// exchange of the subject failed, without a connection, or when the task is cancelled.
  ///
  /// - Returns: Whether the exchange succeeded.
  func exchange(_ subject: String) async -> Bool {
    let number = self.state.withLock { state in
      state.nextNumber += 1
      return state.nextNumber
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = self.state.withLock { state in
          guard let wake = state.wake else { return false }
          state.subjects.insert(subject)
          wake.yield()
          guard !state.failed.contains(subject), !Task.isCancelled else { return false }
          state.waiting[number] = Request(subject: subject, continuation: continuation)
          return true
        }
        if !waits { continuation.resume(returning: false) }
      }
    } onCancel: {
      let request = self.state.withLock { state in
        state.waiting.removeValue(forKey: number) ?? state.running.removeValue(forKey: number)
      }
      request?.continuation.resume(returning: false)
    }
  }

  /// Adds subjects to the next round, for which no request waits.
  func note(_ subjects: Set<String>) {
    self.state.withLock { state in
      guard let wake = state.wake, !subjects.isEmpty else { return }
      state.subjects.formUnion(subjects)
      wake.yield()
    }
  }

  /// Adds the subjects whose last exchange failed to the next round.
  func retry() { self.note(self.state.withLock(\.failed)) }

  /// Runs rounds until an exchange throws or the task is cancelled. Requests don't wait afterwards.
  ///
  /// - Parameters:
  ///   - subjects: The subjects of the first round.
  ///   - exchange: Exchanges a subject, whose last exchange may have failed, and returns whether it
  ///     succeeded. Runs for several subjects at a time.
  func run(
    _ subjects: Set<String>,
    _ exchange: @escaping @Sendable (_ subject: String, _ hasFailed: Bool) async throws -> Bool
  ) async throws {
    let (wakes, wake) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.state.withLock { $0.wake = wake }
    defer { self.end() }
    self.note(subjects)
    for await _ in wakes {
      let (subjects, failed) = self.begin()
      try await withThrowingTaskGroup(of: (String, Bool).self) { group in
        for subject in subjects {
          group.addTask { (subject, try await exchange(subject, failed.contains(subject))) }
        }
        for try await (subject, hasSucceeded) in group {
          self.finish(subject, hasSucceeded: hasSucceeded)
        }
      }
    }
  }

  /// Returns the subjects of the next round, which begins, and the ones whose last exchange failed.
  private func begin() -> (subjects: Set<String>, failed: Set<String>) {
    self.state.withLock { state in
      defer { (state.subjects, state.waiting, state.running) = ([], [:], state.waiting) }
      return (state.subjects, state.failed)
    }
  }

  private func finish(_ subject: String, hasSucceeded: Bool) {
    let requests = self.state.withLock { state in
      if hasSucceeded { state.failed.remove(subject) } else { state.failed.insert(subject) }
      let finished = state.running.filter { $0.value.subject == subject }
      for number in finished.keys { state.running[number] = nil }
      return finished.values
    }
    for request in requests { request.continuation.resume(returning: hasSucceeded) }
  }

  private func end() {
    let requests = self.state.withLock { state in
      defer { state = State(nextNumber: state.nextNumber) }
      return Array(state.waiting.values) + Array(state.running.values)
    }
    for request in requests { request.continuation.resume(returning: false) }
  }
}
