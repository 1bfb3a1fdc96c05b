import SidelightKernels
import Synchronization

/// The work of a session off the frame's path: the jobs of its scene, such as searches of whole
/// pictures, and its analyses.
///
/// A job runs at the same time as later frames and is charged to the session. The session does not
/// wait for a job that has not returned when it ends.
final class SessionJobs: Sendable {
  /// A job's request for a turn on the compute threads.
  struct Turn: Sendable {
    /// The deadline assumed by the scheduler.
    let deadline: Duration
    /// Whether the work is custom code, which may not return: its turn is limited.
    let isCustom: Bool
    /// The kind of work.
    var kind = FrameScheduler.TurnKind.frame
  }

  private struct State {
    var running: [DetachedJob] = []
    var isFinished = false
  }

  private let processing: FrameProcessing
  /// Open as long as a job may run.
  private let account: SchedulerAccount
  private let state = Mutex(State())

  /// - Parameter session: The session's number for the scheduler.
  init(of session: UInt64, _ processing: FrameProcessing) {
    self.processing = processing
    self.account = SchedulerAccount(number: session, scheduler: processing.scheduler)
  }

  /// Starts a job. After ``finish()`` it is cancelled.
  ///
  /// - Parameters:
  ///   - turn: The turn in which it runs; `nil` if another process does the work.
  ///   - work: The work. The meter of its turn is `nil` without a turn.
  ///   - completion: Receives the result, or the error of a turn that was not granted.
  @discardableResult
  func start<Value: Sendable>(
    in turn: Turn?,
    _ work: @escaping @Sendable (_ meter: WorkMeter?) async throws -> Value,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) -> DetachedJob {
    let job = self.processing.detachedJobs.start { _ in
      do {
        completion(.success(try await self.run(in: turn, work)))
      } catch {
        completion(.failure(error))
      }
    }
    let isFinished = self.state.withLock { state in
      state.running.removeAll(where: \.isDone)
      if !state.isFinished { state.running.append(job) }
      return state.isFinished
    }
    if isFinished { job.abandon() }
    return job
  }

  /// Cancels the jobs.
  func finish() {
    let running = self.state.withLock { state in
      state.isFinished = true
      defer { state.running = [] }
      return state.running
    }
    for job in running { job.abandon() }
  }

  private func run<Value: Sendable>(
    in turn: Turn?, _ work: @Sendable (_ meter: WorkMeter?) async throws -> Value
  ) async throws -> Value {
    guard let turn else {
      return try await withTaskExecutorPreference(self.processing.compute) { try await work(nil) }
    }
    return try await self.processing.scheduler.withTurn(
      session: self.account.number, deadline: turn.deadline,
      limit: turn.isCustom ? FrameScheduler.unknownTurnLimit : nil, kind: turn.kind
    ) { _, meter in try await work(meter) }
  }
}
