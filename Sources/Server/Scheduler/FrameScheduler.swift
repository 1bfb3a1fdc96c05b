import Synchronization

/// Shares the compute threads out among the sessions, a frame at a time: the earliest deadline first
/// among those that have not had more than their share.
///
/// At most as many frames are computed at once as there are threads. Each is spread over
/// `threads / sessions` of them: spreading shortens one frame, does not make more of them, and would
/// let one session's dear frame stand in the way of all others.
package final class FrameScheduler: Sendable {
  private struct State: ~Copyable {
    var machine: StateMachine
    var waiting: [UInt64: CheckedContinuation<Int?, Never>] = [:]
  }

  private let state: Mutex<State>
  private let now: @Sendable () -> Duration

  /// - Parameters:
  ///   - threads: Threads that compute.
  ///   - now: The clock on which deadlines are told.
  package init(threads: Int, now: @escaping @Sendable () -> Duration) {
    self.state = Mutex(State(machine: StateMachine(threads: threads)))
    self.now = now
  }

  /// The work that arrives, as a part of what the threads can do. Above 1, frames are dropped.
  package var load: Double {
    let now = self.now()
    return self.state.withLock { $0.machine.load(at: now) }
  }

  /// Work arrives, whether it will be done or not.
  ///
  /// - Parameter work: What it costs one thread.
  package func note(work: Duration, session: UInt64) {
    let now = self.now()
    self.state.withLock { $0.machine.note(work: work, session: session, at: now) }
  }

  /// Waits for a frame's turn, then computes it.
  ///
  /// - Parameters:
  ///   - session: The session's number.
  ///   - deadline: When the frame should be done.
  ///   - body: Does the work, over the number of threads that it is given.
  /// - Throws: `CancellationError` if the task is cancelled before its turn; what `body` throws.
  package func withTurn<Result: Sendable>(
    session: UInt64, deadline: Duration, _ body: (_ bands: Int) async throws -> Result
  ) async throws -> Result {
    guard let bands = await self.turn(session: session, deadline: deadline) else {
      throw CancellationError()
    }
    let start = self.now()
    defer {
      let now = self.now()
      self.resume {
        $0.finish(session: session, bands: bands, elapsed: now - start, at: now)
      }
    }
    return try await body(bands)
  }

  /// A session is over; none of its frames waits or is computed any more.
  package func leave(session: UInt64) {
    self.state.withLock { $0.machine.leave(session: session) }
  }

  /// - Returns: Over how many threads; `nil` if the task was cancelled while it waited.
  private func turn(session: UInt64, deadline: Duration) async -> Int? {
    let now = self.now()
    let ticket = Mutex<UInt64?>(nil)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let bands: Int?? = self.state.withLock { state in
          switch state.machine.request(session: session, deadline: deadline, at: now) {
          case .run(let bands): return bands
          case .wait(let number):
            ticket.withLock { $0 = number }
            // Cancellation that came before the number was known finds nothing to withdraw.
            if Task.isCancelled, state.machine.withdraw(ticket: number) { return .some(nil) }
            state.waiting[number] = continuation
            return nil
          }
        }
        if let bands { continuation.resume(returning: bands) }
      }
    } onCancel: {
      guard let number = ticket.withLock({ $0 }) else { return }
      let continuation = self.state.withLock { state in
        state.machine.withdraw(ticket: number)
          ? state.waiting.removeValue(forKey: number) : nil
      }
      continuation?.resume(returning: nil)
    }
  }

  private func resume(_ body: (inout StateMachine) -> StateMachine.Grant?) {
    let granted = self.state.withLock { state in
      body(&state.machine).map { grant in
        (state.waiting.removeValue(forKey: grant.ticket), grant.bands)
      }
    }
    granted?.0?.resume(returning: granted?.1)
  }
}
