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
