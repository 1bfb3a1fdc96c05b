import GRPCCore
import GRPCProtobuf
package import SidelightKernels
import Synchronization

/// Shares the compute threads out among the sessions, a frame at a time: the earliest deadline first
/// among those that have not had more than their share.
///
/// At most as many frames are computed at once as there are threads. Each is spread over
/// `threads / sessions` of them: spreading shortens one frame, does not make more of them, and would
/// let one session's dear frame stand in the way of all others.
///
/// Work of which nobody knows whether it comes back has a turn of limited length. When that is over, it
/// goes on, but its turn is another's, and other threads stand in for those that it occupies.
package final class FrameScheduler: Sendable {
  private struct State: ~Copyable {
    var machine: StateMachine
    var waiting: [UInt64: CheckedContinuation<Int?, Never>] = [:]
  }

  /// Threads that may be taken up by work that has outstayed its turn, before no more of that kind is
  /// begun.
  package static let maxOverdueThreads = 64

  /// How long a turn lasts that may be outstayed, where nothing is known of the work.
  package static let unknownTurnLimit = Duration.milliseconds(20)

  private let state: Mutex<State>
  private let compute: ComputePool
  private let clock: SessionClock
  private let overdueThreads = Mutex(0)

  /// - Parameters:
  ///   - compute: The threads that compute.
  ///   - clock: The clock on which deadlines are told.
  package init(compute: ComputePool, clock: SessionClock) {
    self.state = Mutex(State(machine: StateMachine(threads: compute.threadCount)))
    self.compute = compute
    self.clock = clock
  }

  /// The work that arrives, as a part of what the threads can do. Above 1, frames are dropped.
  package var load: Double {
    let now = self.clock.now()
    return self.state.withLock { $0.machine.load(at: now) }
  }

  /// Work arrives, whether it will be done or not.
  ///
  /// - Parameter work: What it costs one thread.
  package func recordArrival(work: Duration, session: UInt64) {
    let now = self.clock.now()
    self.state.withLock { $0.machine.recordArrival(work: work, session: session, at: now) }
  }

  /// Waits for a frame's turn, then computes it.
  ///
  /// - Parameters:
  ///   - session: The session's number.
  ///   - deadline: When the frame should be done.
  ///   - limit: How long the turn may last; `nil`: as long as the work does.
  ///   - body: Does the work, over the number of threads that it is given, and tells the meter what
  ///     they do beside each other: the session is charged for the work, not for threads that it might
  ///     have had.
  /// - Throws: `CancellationError` if the task is cancelled before its turn; RESOURCE_EXHAUSTED if the
  ///   turn is limited and ``maxOutstaying`` threads are taken up already; what `body` throws.
  package func withTurn<Result: Sendable>(
    session: UInt64, deadline: Duration, limit: Duration? = nil,
    _ body: (_ bands: Int, _ meter: WorkMeter) async throws -> Result
  ) async throws -> Result {
    if limit != nil { try self.checkOverdueThreads() }
    guard let bands = await self.turn(session: session, deadline: deadline) else {
      throw CancellationError()
    }
    let turn = Turn(session: session, bands: bands, clock: self.clock)
    defer { self.end(turn) }
    guard let limit else { return try await body(bands, turn.meter) }
    // Many may have waited for this turn, and got it because others outstayed theirs.
    try self.checkOverdueThreads()
    return try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      // Not on the compute threads: all of them may be taken up.
      group.addTask(executorPreference: globalConcurrentExecutor) {
        await self.clock.wait(limit)
        if !Task.isCancelled { self.cut(turn) }
      }
      return try await body(bands, turn.meter)
    }
  }

  private func checkOverdueThreads() throws {
    guard self.overdueThreadCount >= Self.maxOverdueThreads else { return }
    throw GoogleRPCStatus(
      code: .resourceExhausted,
      message: "Custom filters that do not come back occupy \(Self.maxOverdueThreads) threads; "
        + "no more are begun.")
  }

  /// Threads that are taken up by work that has outstayed its turn; others stand in for them.
  package var overdueThreadCount: Int { self.overdueThreads.withLock { $0 } }

  /// Frames that wait for their turn.
  package var waitingCount: Int { self.state.withLock { $0.waiting.count } }

  /// A session is over; nothing of its waits or is computed any more.
  package func leave(session: UInt64) {
    self.state.withLock { $0.machine.leave(session: session) }
  }

  /// - Returns: Over how many threads; `nil` if the task was cancelled while it waited.
  private func turn(session: UInt64, deadline: Duration) async -> Int? {
    let now = self.clock.now()
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

  /// A turn's time is over, its work is not.
  private func cut(_ turn: Turn) {
    let isOverdue = turn.state.withLock { state in
      guard case .running = state else { return false }
      self.overdueThreads.withLock { $0 += turn.bands }
      state = .overdue(
        since: self.clock.now(), replacements: self.compute.standIn(for: turn.bands))
      return true
    }
    if isOverdue { self.release(turn) }
  }

  /// A turn's work is done.
  private func end(_ turn: Turn) {
    let before = turn.state.withLock { state in
      defer { state = .over }
      return state
    }
    guard case .overdue(let since, let replacements) = before else { return self.release(turn) }
    self.compute.relieve(replacements)
    self.overdueThreads.withLock { $0 -= turn.bands }
    // Beyond its turn it is charged for what it keeps from others: as many threads as stood in.
    let kept = (self.clock.now() - since) * turn.bands
    self.state.withLock { $0.machine.charge(session: turn.session, work: kept) }
  }

  private func release(_ turn: Turn) {
    let now = self.clock.now()
    self.resume {
      $0.finish(
        session: turn.session, work: now - turn.start + turn.meter.beyondElapsed, at: now)
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

/// A frame's leave to be computed.
private final class Turn: Sendable {
  enum State {
    case running
    /// Its time is over, and other threads stand in for those that it occupies.
    case overdue(since: Duration, replacements: Int)
    case over
  }

  let session: UInt64
  let bands: Int
  let start: Duration
  let meter: WorkMeter
  let state = Mutex(State.running)

  init(session: UInt64, bands: Int, clock: SessionClock) {
    self.session = session
    self.bands = bands
    self.start = clock.now()
    self.meter = WorkMeter(now: clock.now)
  }
}

/// A session's account with the scheduler. It stands as long as anybody refers to it: the session, and
/// work of the session's that outlives it and is charged for what it takes up.
final class SchedulerAccount: Sendable {
  /// The session's number.
  let number: UInt64
  private let scheduler: FrameScheduler

  init(number: UInt64, scheduler: FrameScheduler) {
    self.number = number
    self.scheduler = scheduler
  }

  deinit {
    self.scheduler.leave(session: self.number)
  }
}
