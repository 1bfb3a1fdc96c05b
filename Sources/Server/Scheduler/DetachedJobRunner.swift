import SidelightWire
import Synchronization

/// Runs jobs that may not return: custom filters and analyses.
///
/// The jobs belong to the server, not to their sessions: a session whose client has disconnected
/// ends while its job continues. ``FrameScheduler`` bounds the threads that such jobs occupy.
final class DetachedJobRunner: Sendable {
  private struct State {
    /// Bounded by the sessions: a session has at most one job for its worker and one per analysis.
    var waiting: [DetachedJob] = []
    var runner: CheckedContinuation<DetachedJob?, Never>?
    var isFinished = false
  }

  private enum Start {
    case assigned(to: CheckedContinuation<DetachedJob?, Never>)
    case waiting
    case refused
  }

  private let state = Mutex(State())

  /// Starts a job, which requests its own turns on the compute threads. After ``finish()`` the job
  /// does not run, and is done immediately.
  func start(_ body: @escaping DetachedJob.Body) -> DetachedJob {
    let job = DetachedJob(body)
    let start: Start = self.state.withLock { state in
      guard !state.isFinished else { return .refused }
      if let runner = state.runner.take() { return .assigned(to: runner) }
      state.waiting.append(job)
      return .waiting
    }
    switch start {
    case .assigned(let runner): runner.resume(returning: job)
    case .waiting: break
    case .refused: job.finish()
    }
    return job
  }

  /// Runs the jobs until ``finish()`` was called and all jobs have returned. Cancellation does not
  /// end it, because sessions that are being cancelled may still start jobs, which are then
  /// cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      while let job = await self.next() {
        group.addTask { await job.run() }
      }
    }
  }

  /// Ends ``run()`` once all jobs have returned. Must be called after the last session that could
  /// start a job has ended.
  func finish() {
    let runner = self.state.withLock { state in
      state.isFinished = true
      return state.runner.take()
    }
    runner?.resume(returning: nil)
  }

  private func next() async -> DetachedJob? {
    await withCheckedContinuation { continuation in
      let next: DetachedJob?? = self.state.withLock { state in
        if !state.waiting.isEmpty { return state.waiting.removeFirst() }
        if state.isFinished { return .some(nil) }
        state.runner = continuation
        return nil
      }
      if let next { continuation.resume(returning: next) }
    }
  }
}

/// A job that may not return.
///
/// States: waiting -> started -> done. A job can be abandoned at any time: it is then cancelled,
/// but may continue to run.
final class DetachedJob: Sendable {
  /// The job's work.
  ///
  /// - Parameter started: The work calls `finish()` on it when its turn has come.
  typealias Body = @Sendable (_ started: Completion) async -> Void

  /// Released when the job runs, or ends without having run: it retains the frame.
  private let body: Mutex<Body?>
  private let started = Completion()
  private let done = Completion()
  /// Finished when the job is done or abandoned.
  private let released = Completion()

  init(_ body: @escaping Body) {
    self.body = Mutex(body)
  }

  var isDone: Bool { self.done.isFinished }

  /// Returns when the job's turn has come, or when it is done without a turn. Cancellation of the
  /// caller abandons the job, which ends its wait for a turn.
  func waitUntilStarted() async {
    await withTaskCancellationHandler {
      await self.started.wait()
    } onCancel: {
      self.abandon()
    }
  }

  /// Returns when the job is done, after the time limit, or when the caller is cancelled.
  ///
  /// - Returns: Whether it is done.
  func wait(atMost limit: Duration, on clock: SessionClock) async -> Bool {
    await self.done.wait(atMost: limit, on: clock)
  }

  /// Cancels the job's task. Has no effect if the job is done.
  func abandon() {
    self.released.finish()
  }

  /// Runs the job. Must be called once.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        if let body = self.body.withLock({ $0.take() }) { await body(self.started) }
        self.finish()
      }
      await self.released.wait()
      group.cancelAll()
    }
  }

  /// Marks the job as done.
  func finish() {
    _ = self.body.withLock { $0.take() }
    self.started.finish()
    self.done.finish()
    self.released.finish()
  }
}
