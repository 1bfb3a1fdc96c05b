import GRPCCore
import GRPCProtobuf
package import SidelightKernels
package import SidelightWire
import Synchronization

/// Grants the compute threads to sessions, one frame at a time: earliest deadline first among the
/// sessions within their share.
///
/// At most as many frames run at once as the scheduler has threads. A frame is spread over
/// `threads / sessions` threads: a wider spread shortens one frame but does not increase
/// throughput, and would let one session's expensive frame delay all others. While other sessions
/// are active, an expensive frame pauses between slices of its passes for much cheaper ones.
///
/// Work that may not return gets a turn of limited length. Afterwards it continues, but the turn
/// goes to another frame, and replacement threads replace the threads that it occupies.
///
/// Turns are requested on the caller's thread: a session whose frame waits for a turn does not need
/// a compute thread, and long work may hold all of them. While ``lendThreads()`` runs, short frames
/// do not wait for such work either.
package final class FrameScheduler: Sendable {
  private struct State: ~Copyable {
    var machine: StateMachine
    var waiting: [UInt64: PendingTurn] = [:]
    /// Resumes ``lendThreads()`` when a frame waits that may be short.
    var lender: CheckedContinuation<Duration?, Never>?

    /// Removes the waiting turn of a grant.
    mutating func take(
      _ grant: StateMachine.Grant
    ) -> (turn: PendingTurn?, grant: PendingTurn.Grant) {
      (
        self.waiting.removeValue(forKey: grant.ticket),
        PendingTurn.Grant(bands: grant.bands, isAdditional: grant.isAdditional)
      )
    }
  }

  /// The number of threads occupied by overdue work at which turns of limited length are refused.
  package static let maxOverdueThreads = 64

  /// The length of a limited turn for work of unknown cost.
  package static let unknownTurnLimit = Duration.milliseconds(20)

  private let state: Mutex<State>
  private let compute: ComputePool
  fileprivate let clock: SessionClock
  private let overdueThreads = Mutex(0)
  /// The requests that wait, and the active sessions. Running turns read them without the lock.
  private let waitingRequests = Atomic<Int>(0)
  private let activeSessions = Atomic<Int>(0)

  /// - Parameters:
  ///   - compute: The compute threads.
  ///   - clock: The clock of the deadlines.
  package init(compute: ComputePool, clock: SessionClock) {
    self.state = Mutex(State(machine: StateMachine(threads: compute.threadCount)))
    self.compute = compute
    self.clock = clock
  }

  /// The arriving work, relative to the capacity of the threads. Above 1, frames are dropped.
  package var load: Double {
    let now = self.clock.now()
    return self.state.withLock { $0.machine.load(at: now) }
  }

  /// The arriving work by session, relative to the capacity of the threads.
  var demands: [UInt64: Double] {
    let now = self.clock.now()
    return self.state.withLock { $0.machine.demands(at: now) }
  }

  /// Records that work arrives, whether it will be done or not.
  ///
  /// - Parameter work: The time that one thread would need for it.
  package func recordArrival(work: Duration, session: UInt64) {
    let now = self.clock.now()
    self.state.withLock { $0.machine.recordArrival(work: work, session: session, at: now) }
  }

  /// Waits for a turn, then runs the work on a compute thread.
  ///
  /// - Parameters:
  ///   - deadline: The time at which the frame should be done.
  ///   - limit: The length of the turn. `nil` disables the limit. A turn with a limit never pauses.
  ///   - cost: The expected work, in time of one thread, or `nil` if unknown.
  ///   - kind: The kind of work. The turn of a job never pauses.
  ///   - waitsOnComputeThread: Whether the task waits as a job of the compute threads, which starts
  ///     its turn without delay. A cancellation then ends the wait only when a thread is free.
  ///   - body: Does the work on the given number of threads, and reports parallel work to the
  ///     meter: the scheduler charges the session for the work, not for the threads that it could
  ///     have used.
  /// - Throws: `CancellationError` if the task is cancelled before its turn; RESOURCE_EXHAUSTED if
  ///   the turn is limited and overdue work occupies ``maxOverdueThreads`` threads; the error of
  ///   `body`.
  package func withTurn<Result: Sendable>(
    session: UInt64, deadline: Duration, limit: Duration? = nil, cost: Duration? = nil,
    kind: TurnKind = .frame, waitsOnComputeThread: Bool = false,
    _ body: (_ bands: Int, _ meter: WorkMeter) async throws -> Result
  ) async throws -> Result {
    if limit != nil { try self.checkOverdueThreads() }
    let pending = self.request(session: session, deadline: deadline, cost: cost, kind: kind)
    if !waitsOnComputeThread, await self.grant(of: pending) == nil { throw CancellationError() }
    return try await withTaskExecutorPreference(self.compute) {
      guard let grant = await self.grant(of: pending) else { throw CancellationError() }
      let turn = Turn(
        session: session, grant: grant, deadline: deadline, cost: cost, kind: kind, scheduler: self)
      let now = self.clock.now
      let meter = WorkMeter(now: now, pausePoint: limit == nil ? turn : nil)
      defer { self.end(turn, meter) }
      guard let limit else { return try await body(grant.bands, meter) }
      // The turn may have come because others became overdue during the wait.
      try self.checkOverdueThreads()
      return try await withThrowingTaskGroup(of: Void.self) { group in
        defer { group.cancelAll() }
        // Not on the compute threads, which may all be occupied.
        group.addTask(executorPreference: globalConcurrentExecutor) {
          await self.clock.wait(limit)
          if !Task.isCancelled { self.markOverdue(turn, meter) }
        }
        return try await body(grant.bands, meter)
      }
    }
  }

  private func checkOverdueThreads() throws {
    guard self.overdueThreadCount >= Self.maxOverdueThreads else { return }
    throw GoogleRPCStatus(
      code: .resourceExhausted,
      message:
        "\(Self.maxOverdueThreads) threads are occupied by custom filters that have not returned; "
        + "no more are started.")
  }

  /// The number of threads that overdue work occupies and that replacement threads replace.
  package var overdueThreadCount: Int { self.overdueThreads.withLock { $0 } }

  /// The number of frames that wait for their turn.
  package var waitingCount: Int { self.state.withLock { $0.waiting.count } }

  /// Closes the account of a session, which must not have waiting or running work.
  package func leave(session: UInt64) {
    self.state.withLock { $0.machine.leave(session: session) }
  }

  private func request(
    session: UInt64, deadline: Duration, cost: Duration?, kind: TurnKind
  ) -> PendingTurn {
    let now = self.clock.now()
    return self.withState(at: now) { state in
      switch state.machine.request(
        session: session, deadline: deadline, cost: cost, kind: kind, at: now)
      {
      case .run(let bands):
        let turn = PendingTurn()
        turn.decide(PendingTurn.Grant(bands: bands, isAdditional: false))
        return turn
      case .wait(let ticket):
        let turn = PendingTurn(ticket: ticket)
        state.waiting[ticket] = turn
        return turn
      }
    }
  }

  /// Waits for a requested turn.
  ///
  /// - Returns: `nil` if the task was cancelled before.
  private func grant(of turn: PendingTurn) async -> PendingTurn.Grant? {
    await withTaskCancellationHandler {
      await turn.grant()
    } onCancel: {
      guard let ticket = turn.ticket else { return }
      let isWithdrawn = self.withState { state in
        state.waiting[ticket] = nil
        return state.machine.withdraw(ticket: ticket)
      }
      if isWithdrawn { turn.decide(nil) }
    }
  }

  /// Gives the turn of work that has exceeded its limit to others, while the work continues.
  private func markOverdue(_ turn: Turn, _ meter: WorkMeter) {
    let isOverdue = turn.state.withLock { state in
      guard case .running = state else { return false }
      self.overdueThreads.withLock { $0 += turn.bands }
      state = .overdue(
        since: self.clock.now(), replacements: self.compute.addReplacements(for: turn.bands))
      return true
    }
    if isOverdue { self.release(turn, meter) }
  }

  /// Ends a turn whose work is done.
  private func end(_ turn: Turn, _ meter: WorkMeter) {
    let before = turn.state.withLock { state in
      defer { state = .ended }
      return state
    }
    if case .away = before { return }
    guard case .overdue(let since, let replacements) = before else {
      return self.release(turn, meter)
    }
    self.compute.retire(replacements)
    self.overdueThreads.withLock { $0 -= turn.bands }
    // The turn was charged when it ended. The threads that its work occupied since then were not.
    let overtime = (self.clock.now() - since) * turn.bands
    self.state.withLock { $0.machine.charge(session: turn.session, work: overtime) }
  }

  private func release(_ turn: Turn, _ meter: WorkMeter) {
    let now = self.clock.now()
    let work = turn.takeUncharged(meter, at: now)
    let granted = self.withState(at: now) { state in
      state.machine.finish(
        session: turn.session, work: work, kind: turn.kind, isAdditional: turn.isAdditional, at: now
      ).map { grant in state.take(grant) }
    }
    self.compute.retire(turn.additionalThreads)
    if let granted { self.begin(granted) }
  }

  private func begin(_ granted: (turn: PendingTurn?, grant: PendingTurn.Grant)) {
    var grant = granted.grant
    if grant.isAdditional { grant.additionalThreads = self.compute.addReplacements(for: 1) }
    granted.turn?.decide(grant)
  }

  /// Gives a turn to others while its work waits for something that needs no thread.
  fileprivate func leave(_ turn: Turn, _ meter: WorkMeter) {
    turn.state.withLock { $0 = .away }
    self.release(turn, meter)
  }

  /// Waits for another turn for the rest of the work.
  fileprivate func rejoin(_ turn: Turn) async {
    let pending = self.request(
      session: turn.session, deadline: turn.deadline, cost: turn.cost, kind: turn.kind)
    guard let grant = await self.grant(of: pending) else { return }
    turn.grant.withLock { $0 = grant }
    turn.state.withLock { $0 = .running }
  }

  // MARK: Additional threads

  /// Lends additional threads to short frames that would have to wait for long work, until
  /// cancelled.
  package func lendThreads() async {
    while let time = await self.timeToLend() {
      // A frame that waits meanwhile may be due earlier.
      await self.clock.wait(min(time, StateMachine.patience))
      while !Task.isCancelled, let granted = self.lendThread() { self.begin(granted) }
    }
  }

  private func lendThread() -> (turn: PendingTurn?, grant: PendingTurn.Grant)? {
    let now = self.clock.now()
    return self.withState(at: now) { state in
      state.machine.lend(at: now).map { grant in state.take(grant) }
    }
  }

  /// Waits until a frame waits that may be short.
  ///
  /// - Returns: The time until it may have to get an additional thread, or `nil` if the task is
  ///   cancelled.
  private func timeToLend() async -> Duration? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        self.withState { state in
          state.lender = continuation
          // An earlier cancellation did not find the continuation.
          if Task.isCancelled { state.lender.take()?.resume(returning: nil) }
        }
      }
    } onCancel: {
      self.withState { state in state.lender.take()?.resume(returning: nil) }
    }
  }

  // MARK: Pauses

  /// Whether other sessions are active, or requests wait. A session that appeared during a turn
  /// counts as active only when another turn begins.
  fileprivate var isContended: Bool {
    self.activeSessions.load(ordering: .relaxed) > 1
      || self.waitingRequests.load(ordering: .relaxed) > 0
  }

  /// Lets waiting turns that are much shorter run first.
  fileprivate func pauseIfNeeded(_ turn: Turn, _ meter: WorkMeter) async {
    // Tasks that wait for a thread may be about to request a turn.
    if self.compute.hasWaitingJobs { await meter.pause { await Task.yield() } }
    guard self.waitingRequests.load(ordering: .relaxed) > 0 else { return }
    await meter.pause {
      let now = self.clock.now()
      let (done, uncharged) = (turn.work(meter, at: now), turn.uncharged(meter, at: now))
      let paused = self.withState(at: now) { state -> (PendingTurn, PendingTurn?, Int)? in
        guard
          let pause = state.machine.pause(
            session: turn.session, deadline: turn.deadline, cost: max(turn.cost ?? .zero, done),
            work: uncharged, at: now)
        else { return nil }
        // Before the turn can continue, and be charged again.
        turn.charge(uncharged)
        let pending = PendingTurn(ticket: pause.ticket)
        state.waiting[pause.ticket] = pending
        return (
          pending, state.waiting.removeValue(forKey: pause.grant.ticket), pause.grant.bands
        )
      }
      guard let (pending, next, bands) = paused else { return }
      next?.decide(PendingTurn.Grant(bands: bands, isAdditional: false))
      _ = await pending.grant()
    }
  }

  /// Changes the state, and the parts of it that running turns read.
  private func withState<Result: Sendable>(
    at now: Duration? = nil, _ body: (inout sending State) -> sending Result
  ) -> Result {
    self.state.withLock { state in
      let result = body(&state)
      self.waitingRequests.store(state.machine.waitingCount, ordering: .relaxed)
      self.activeSessions.store(state.machine.activeSessions, ordering: .relaxed)
      if state.lender != nil, state.machine.waitingCount > 0,
        let time = state.machine.timeToLend(at: now ?? self.clock.now())
      {
        state.lender.take()?.resume(returning: time)
      }
      return result
    }
  }
}

/// A requested turn, for which one task waits.
private final class PendingTurn: Sendable {
  struct Grant: Sendable {
    /// The number of threads.
    var bands: Int
    /// Whether the turn has an additional thread.
    var isAdditional: Bool
    /// The number of threads that were started for it: 0 if the system refused one.
    var additionalThreads = 0
  }

  private enum State {
    case pending
    case waiting(CheckedContinuation<Grant?, Never>)
    case decided(Grant?)
  }

  /// The number of the request, or `nil` if it was granted at once.
  let ticket: UInt64?
  private let state = Mutex(State.pending)

  init(ticket: UInt64? = nil) {
    self.ticket = ticket
  }

  /// Grants the turn, or withdraws the request. Later calls have no effect.
  func decide(_ grant: Grant?) {
    let waiting: CheckedContinuation<Grant?, Never>? = self.state.withLock { state in
      switch state {
      case .pending:
        state = .decided(grant)
        return nil
      case .waiting(let continuation):
        state = .decided(grant)
        return continuation
      case .decided: return nil
      }
    }
    waiting?.resume(returning: grant)
  }

  /// Waits for the decision. `nil` if the request was withdrawn.
  func grant() async -> Grant? {
    await withCheckedContinuation { continuation in
      let decided: Grant?? = self.state.withLock { state in
        if case .decided(let grant) = state { return .some(grant) }
        state = .waiting(continuation)
        return nil
      }
      if let decided { continuation.resume(returning: decided) }
    }
  }
}

/// A turn on the compute threads.
private final class Turn: PausePoint {
  enum State {
    case running
    /// The time limit has passed, and replacement threads replace the threads that the turn
    /// occupies.
    case overdue(since: Duration, replacements: Int)
    /// The turn went to others, because the work waits.
    case away
    case ended
  }

  let session: UInt64
  /// The threads of the turn.
  let grant: Mutex<PendingTurn.Grant>
  var bands: Int { self.grant.withLock(\.bands) }
  /// Whether the turn has an additional thread.
  var isAdditional: Bool { self.grant.withLock(\.isAdditional) }
  /// The threads started for the turn.
  var additionalThreads: Int { self.grant.withLock(\.additionalThreads) }
  let deadline: Duration
  /// The expected work, or `nil` if unknown.
  let cost: Duration?
  let kind: FrameScheduler.TurnKind
  let state = Mutex(State.running)
  private let start: Duration
  private let scheduler: FrameScheduler
  /// The work charged to the session at pauses.
  private let charged = Mutex(Duration.zero)

  init(
    session: UInt64, grant: PendingTurn.Grant, deadline: Duration, cost: Duration?,
    kind: FrameScheduler.TurnKind, scheduler: FrameScheduler
  ) {
    self.session = session
    self.grant = Mutex(grant)
    self.deadline = deadline
    self.cost = cost
    self.kind = kind
    self.scheduler = scheduler
    self.start = scheduler.clock.now()
  }

  var isContended: Bool { self.kind == .frame && self.scheduler.isContended }

  func pauseIfNeeded(_ meter: WorkMeter) async {
    guard self.kind == .frame else { return }
    await self.scheduler.pauseIfNeeded(self, meter)
  }

  func leave(_ meter: WorkMeter) { self.scheduler.leave(self, meter) }

  func rejoin(_ meter: WorkMeter) async { await self.scheduler.rejoin(self) }

  /// Returns the work of all threads since the turn began.
  func work(_ meter: WorkMeter, at now: Duration) -> Duration {
    now - self.start + meter.beyondElapsed
  }

  /// Returns the work that the session was not charged for.
  func uncharged(_ meter: WorkMeter, at now: Duration) -> Duration {
    self.work(meter, at: now) - self.charged.withLock(\.self)
  }

  /// Returns the work that the session was not charged for, and records it as charged.
  func takeUncharged(_ meter: WorkMeter, at now: Duration) -> Duration {
    let work = self.uncharged(meter, at: now)
    self.charge(work)
    return work
  }

  /// Records that the session was charged.
  func charge(_ work: Duration) {
    self.charged.withLock { $0 += work }
  }
}

/// A session's account with the scheduler. It is open as long as it is referenced: by the session,
/// and by work that outlives the session and is charged to it.
final class SchedulerAccount: Sendable {
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
