import Foundation

/// Decides how a supervisor reacts to events, without processes, sockets and clocks.
///
/// ```
/// starting ──all serve──▶ serving ──terminate──▶ draining ──all ended──▶ finished
///     └───────one ends, or terminate────────────────▲
/// ```
package struct SupervisorStateMachine {
  /// An event.
  package enum Event: Hashable {
    /// A worker is ready to serve.
    case ready(Int)
    /// A worker's process ended after it had served for `uptime`; zero if it never served.
    case ended(Int, WorkerEnd, uptime: Duration)
    /// The delay before a worker's next start is over.
    case restartDue(Int)
    /// All workers should drain; the second time, end at once.
    case terminate
    /// All workers should reload their settings.
    case reload
    /// The grace period is over.
    case gracePeriodEnded
  }

  /// An action to perform.
  package enum Action: Hashable {
    case start(Int)
    case startLater(Int, after: Duration)
    /// Announce that all workers serve for the first time.
    case announce
    case reload(Int)
    /// Ask a worker to drain.
    case terminate(Int)
    /// Kill a worker.
    case kill(Int)
    /// Close the sockets, and send ``Event/gracePeriodEnded`` after the grace period.
    case stopListening
    /// Exit without waiting.
    case exitImmediately
    /// Finish, with a failure unless all workers served and drained.
    case finish(WorkerFailure?)
  }

  private enum Phase { case starting, serving, draining, finished }

  /// The state of a worker.
  private enum WorkerState {
    /// Not started yet, or waiting for its next start.
    case idle
    /// Started; `reloads` if it should reload its settings when it serves.
    case starting(reloads: Bool)
    case serving
    /// Asked to drain.
    case ending
    /// Killed after the grace period.
    case killed
    /// Ended, and not to be restarted.
    case ended
  }

  private var phase = Phase.starting
  private var workers: [WorkerState]
  private var backoffs: [RestartBackoff]
  private var failure: WorkerFailure?

  /// - Parameter backoff: The delays before restarts.
  /// - Precondition: `workers` is at least 1.
  package init(workers: Int, backoff: RestartBackoff) {
    precondition(workers > 0, "a supervisor needs at least 1 worker")
    self.workers = Array(repeating: .idle, count: workers)
    self.backoffs = Array(repeating: backoff, count: workers)
  }

  /// Starts only the first worker, to report errors in the settings once.
  package mutating func start() -> [Action] { [self.startWorker(0)] }

  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .ready(let worker): self.recordReady(worker)
    case .ended(let worker, let end, let uptime): self.recordEnd(worker, end, uptime)
    case .restartDue(let worker):
      if self.phase == .serving, case .idle = self.workers[worker] {
        [self.startWorker(worker)]
      } else {
        []
      }
    case .terminate:
      switch self.phase {
      case .starting, .serving: self.drain()
      case .draining: self.running.map { .kill($0) } + [.exitImmediately]
      case .finished: []
      }
    case .reload: self.reload()
    case .gracePeriodEnded: self.phase == .draining ? self.killRemaining() : []
    }
  }

  // MARK: Starting

  private mutating func startWorker(_ worker: Int) -> Action {
    self.workers[worker] = .starting(reloads: false)
    return .start(worker)
  }

  private mutating func recordReady(_ worker: Int) -> [Action] {
    guard case .starting(let reloads) = self.workers[worker] else { return [] }
    self.workers[worker] = .serving
    var actions: [Action] = reloads ? [.reload(worker)] : []
    guard self.phase == .starting else { return actions }
    for other in self.workers.indices {
      if case .idle = self.workers[other] { actions.append(self.startWorker(other)) }
    }
    let allServe = self.workers.allSatisfy { if case .serving = $0 { true } else { false } }
    if allServe {
      self.phase = .serving
      actions.append(.announce)
    }
    return actions
  }

  // MARK: Serving

  private mutating func recordEnd(_ worker: Int, _ end: WorkerEnd, _ uptime: Duration) -> [Action] {
    switch self.phase {
    case .starting:
      self.workers[worker] = .ended
      self.failure = WorkerFailure(worker: worker, end: end)
      return self.drain()
    case .serving:
      self.workers[worker] = .idle
      let delay = self.backoffs[worker].delay(after: uptime)
      return delay == .zero ? [self.startWorker(worker)] : [.startLater(worker, after: delay)]
    case .draining:
      let wasOrderly = self.isOrderly(end, in: self.workers[worker])
      self.workers[worker] = .ended
      if !wasOrderly, self.failure == nil {
        self.failure = WorkerFailure(worker: worker, end: end)
      }
      return self.running.isEmpty ? self.finish() : []
    case .finished: return []
    }
  }

  private mutating func reload() -> [Action] {
    guard self.phase == .starting || self.phase == .serving else { return [] }
    var actions: [Action] = []
    for worker in self.workers.indices {
      switch self.workers[worker] {
      case .serving: actions.append(.reload(worker))
      // It may have read its settings already, and cannot receive signals yet.
      case .starting: self.workers[worker] = .starting(reloads: true)
      case .idle, .ending, .killed, .ended: break
      }
    }
    return actions
  }

  // MARK: Ending

  private mutating func drain() -> [Action] {
    self.phase = .draining
    var actions: [Action] = []
    for worker in self.workers.indices {
      switch self.workers[worker] {
      case .starting, .serving:
        self.workers[worker] = .ending
        actions.append(.terminate(worker))
      case .idle: self.workers[worker] = .ended
      case .ending, .killed, .ended: break
      }
    }
    actions.append(.stopListening)
    return self.running.isEmpty ? actions + self.finish() : actions
  }

  private mutating func killRemaining() -> [Action] {
    let workers = self.running
    for worker in workers { self.workers[worker] = .killed }
    return workers.map { .kill($0) }
  }

  /// Returns whether a worker ended as requested. A worker that does not handle SIGTERM yet is
  /// ended by that signal.
  private func isOrderly(_ end: WorkerEnd, in state: WorkerState) -> Bool {
    switch (state, end) {
    case (.killed, .signalled(let signal)): signal == SIGKILL
    case (.ending, .signalled(let signal)): signal == SIGTERM
    case (_, .exited(let status)): status == 0
    case (_, .signalled): false
    // The worker has not started, and doesn't need to drain.
    case (_, .notStarted): true
    }
  }

  private mutating func finish() -> [Action] {
    self.phase = .finished
    return [.finish(self.failure)]
  }

  /// The workers that have a process.
  private var running: [Int] {
    self.workers.indices.filter {
      switch self.workers[$0] {
      case .starting, .serving, .ending, .killed: true
      case .idle, .ended: false
      }
    }
  }
}

/// The delay before a worker that ended is restarted; zero unless it ends repeatedly.
///
/// A run of at least ``minUptime`` resets the delay. After the first short run the worker is
/// restarted at once; after the second the delay is ``initialDelay``, which doubles with every
/// further short run up to ``maxDelay``.
public struct RestartBackoff: Sendable, Hashable {
  /// - `minUptime` (duration, default: 10 s): the minimum time of service after which an end does
  ///   not count as part of a crash loop.
  public var minUptime: Duration
  /// - `initialDelay` (duration, default: 100 ms): the delay after two consecutive short runs.
  public var initialDelay: Duration
  /// - `maxDelay` (duration, default: 10 s): the longest delay.
  public var maxDelay: Duration
  /// The number of consecutive short runs.
  private var shortRuns = 0

  /// - Parameters:
  ///   - minUptime: The minimum time of service after which an end does not count as part of a
  ///     crash loop.
  ///   - initialDelay: The delay after two consecutive short runs.
  ///   - maxDelay: The longest delay.
  public init(
    minUptime: Duration = .seconds(10), initialDelay: Duration = .milliseconds(100),
    maxDelay: Duration = .seconds(10)
  ) {
    self.minUptime = minUptime
    self.initialDelay = initialDelay
    self.maxDelay = maxDelay
  }

  /// Records the end of a worker.
  ///
  /// - Parameter uptime: The time for which it served; zero if it never did.
  /// - Returns: The delay before its restart.
  package mutating func delay(after uptime: Duration) -> Duration {
    guard uptime < self.minUptime else {
      self.shortRuns = 0
      return .zero
    }
    self.shortRuns += 1
    guard self.shortRuns > 1 else { return .zero }
    // More doublings would exceed any maximum, and finally overflow.
    let doublings = min(self.shortRuns - 2, 30)
    return min(self.maxDelay, self.initialDelay * (1 << doublings))
  }
}
