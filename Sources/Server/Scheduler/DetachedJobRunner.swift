import SidelightKernels
import Synchronization

/// Runs work that may not come back: filters and analyses of a user's own.
///
/// It is the server's, not that of the session that asked for it: a session whose client has left ends
/// while the work goes on. How many threads such work may take up is for ``FrameScheduler`` to say.
final class DetachedJobRunner: Sendable {
  private struct State {
    var waiting: [DetachedJob] = []
    var runner: CheckedContinuation<DetachedJob?, Never>?
    var isFinished = false
  }

  private enum Placement {
    case handedOver(to: CheckedContinuation<DetachedJob?, Never>)
    case waiting
    case refused
  }

  private let compute: ComputePool
  private let state = Mutex(State())

  init(compute: ComputePool) {
    self.compute = compute
  }

  /// Begins a piece of work on the compute threads. After ``finish()`` nothing is begun: the work then
  /// counts as done at once.
  func start(_ body: @escaping DetachedJob.Body) -> DetachedJob {
    let job = DetachedJob(body)
    let placement: Placement = self.state.withLock { state in
      guard !state.isFinished else { return .refused }
      if let runner = state.runner.take() { return .handedOver(to: runner) }
      state.waiting.append(job)
      return .waiting
    }
    switch placement {
    case .handedOver(let runner): runner.resume(returning: job)
    case .waiting: break
    case .refused: job.finish()
    }
    return job
  }

  /// Runs what is begun, until ``finish()`` was called and all of it has come back. Cancelling does not
  /// end that, since sessions that are cut off may still begin something; what they begin then is
  /// cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      while let job = await self.next() {
        group.addTask { await job.run(on: self.compute) }
      }
    }
  }

  /// No session is left that could begin anything.
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

/// A piece of work that may not come back, as whoever asked for it sees it.
///
/// Life: waiting -> begun -> done; given up at any time, after which it goes on, but is cancelled, and
/// nobody waits for it.
final class DetachedJob: Sendable {
  /// Does the work.
  ///
  /// - Parameter begun: Is finished when its turn has come.
  typealias Body = @Sendable (_ started: Completion) async -> Void

  private let body: Body
  private let started = Completion()
  private let done = Completion()
  /// Nobody needs to watch it any more: it is done, or was given up.
  private let released = Completion()

  init(_ body: @escaping Body) {
    self.body = body
  }

  /// Whether the work is done.
  var isDone: Bool { self.done.isOver }

  /// Returns when the work's turn has come, or it is done without one. If the caller is cancelled, the
  /// work is given up, and what waits for its turn is then done.
  func waitUntilStarted() async {
    await withTaskCancellationHandler {
      await self.started.wait()
    } onCancel: {
      self.abandon()
    }
  }

  /// Returns when the work is done, when the clock says that it has taken too long, or when the caller
  /// is cancelled.
  ///
  /// - Returns: Whether it is done.
  func wait(atMost limit: Duration, on clock: SessionClock) async -> Bool {
    await self.done.wait(atMost: limit, on: clock)
  }

  /// Nobody waits for it any more: its task is cancelled. Without effect on work that is done.
  func abandon() {
    self.released.finish()
  }

  /// Does the work. To be called once.
  func run(on compute: ComputePool) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask(executorPreference: compute) {
        await self.body(self.started)
        self.finish()
      }
      await self.released.wait()
      group.cancelAll()
    }
  }

  /// It is done, or will never be begun.
  func finish() {
    self.started.finish()
    self.done.finish()
    self.released.finish()
  }
}
