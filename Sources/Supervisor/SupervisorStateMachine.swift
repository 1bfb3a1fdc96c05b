#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What a supervisor does about what comes to pass; without processes, sockets and clocks.
///
/// ```
/// starting ──all serve──▶ serving ──terminate──▶ draining ──all ended──▶ over
///     └───────one ends, or terminate────────────────▲
/// ```
package struct SupervisorStateMachine {
  /// What comes to pass.
  package enum Event: Hashable {
    /// A worker serves.
    case ready(Int)
    /// A worker's process is over; it had served for that long.
    case ended(Int, WorkerEnd, life: Duration)
    /// The delay before a worker's next start is over.
    case restartDue(Int)
    /// All are to drain. The second time: to end at once.
    case terminate
    /// All are to read their settings again.
    case reload
    /// The time to drain is over.
    case graceOver
  }

  /// What is to be done.
  package enum Action: Hashable {
    case start(Int)
    case startLater(Int, after: Duration)
    /// All workers serve for the first time.
    case announce
    case reload(Int)
    /// A worker is to drain.
    case terminate(Int)
    /// A worker is to end at once.
    case kill(Int)
    /// No connection is taken any more, and ``Event/graceOver`` comes when the grace is over.
    case stopListening
    /// Nobody waits for anything any more.
    case exitAtOnce
    /// All is over. With a failure unless all came to serve, and drained well.
    case finish(WorkerFailure?)
  }

  private enum Phase { case starting, serving, draining, over }

  /// Where one worker stands.
  private enum Standing {
    /// Not started yet, or waiting for its next start.
    case idle
    /// Started; whether it is to read its settings again once it serves.
    case starting(reloads: Bool)
    case serving
    /// Asked to drain.
    case ending
    /// Killed, as the time for that is over.
    case cutOff
    case gone
  }

  private var phase = Phase.starting
  private var standings: [Standing]
  private var backoffs: [RestartBackoff]
  private var failure: WorkerFailure?

  /// - Parameters:
  ///   - workers: How many there are.
  ///   - backoff: How they are started anew.
  /// - Precondition: There is one at least.
  package init(workers: Int, backoff: RestartBackoff) {
    precondition(workers > 0, "a supervisor has workers")
    self.standings = Array(repeating: .idle, count: workers)
    self.backoffs = Array(repeating: backoff, count: workers)
  }

  /// The first worker alone: what is wrong with the settings is told once.
  package mutating func begin() -> [Action] { [self.start(0)] }

  /// Takes in what came to pass.
  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .ready(let worker): self.noteReady(worker)
    case .ended(let worker, let end, let life): self.noteEnd(worker, end, life)
    case .restartDue(let worker):
      if self.phase == .serving, case .idle = self.standings[worker] {
        [self.start(worker)]
      } else {
        []
      }
    case .terminate:
      switch self.phase {
      case .starting, .serving: self.drain()
      case .draining: self.alive.map { .kill($0) } + [.exitAtOnce]
      case .over: []
      }
    case .reload: self.reload()
    case .graceOver: self.phase == .draining ? self.cutOff() : []
    }
  }

  // MARK: Starting

  private mutating func start(_ worker: Int) -> Action {
    self.standings[worker] = .starting(reloads: false)
    return .start(worker)
  }

  private mutating func noteReady(_ worker: Int) -> [Action] {
    guard case .starting(let reloads) = self.standings[worker] else { return [] }
    self.standings[worker] = .serving
    var actions: [Action] = reloads ? [.reload(worker)] : []
    guard self.phase == .starting else { return actions }
    for other in self.standings.indices {
      if case .idle = self.standings[other] { actions.append(self.start(other)) }
    }
    let allServe = self.standings.allSatisfy { if case .serving = $0 { true } else { false } }
    if allServe {
      self.phase = .serving
      actions.append(.announce)
    }
    return actions
  }

  // MARK: Serving

  private mutating func noteEnd(_ worker: Int, _ end: WorkerEnd, _ life: Duration) -> [Action] {
    switch self.phase {
    case .starting:
      self.standings[worker] = .gone
      self.failure = WorkerFailure(worker: worker, end: end)
      return self.drain()
    case .serving:
      self.standings[worker] = .idle
      let delay = self.backoffs[worker].delay(after: life)
      return delay == .zero ? [self.start(worker)] : [.startLater(worker, after: delay)]
    case .draining:
      let wasOrderly = self.isOrderly(end, in: self.standings[worker])
      self.standings[worker] = .gone
      if !wasOrderly, self.failure == nil {
        self.failure = WorkerFailure(worker: worker, end: end)
      }
      return self.alive.isEmpty ? self.finish() : []
    case .over: return []
    }
  }

  private mutating func reload() -> [Action] {
    guard self.phase == .starting || self.phase == .serving else { return [] }
    var actions: [Action] = []
    for worker in self.standings.indices {
      switch self.standings[worker] {
      case .serving: actions.append(.reload(worker))
      // It may have read them already, and cannot be told yet.
      case .starting: self.standings[worker] = .starting(reloads: true)
      case .idle, .ending, .cutOff, .gone: break
      }
    }
    return actions
  }

  // MARK: Ending

  private mutating func drain() -> [Action] {
    self.phase = .draining
    var actions: [Action] = []
    for worker in self.standings.indices {
      switch self.standings[worker] {
      case .starting, .serving:
        self.standings[worker] = .ending
        actions.append(.terminate(worker))
      case .idle: self.standings[worker] = .gone
      case .ending, .cutOff, .gone: break
      }
    }
    actions.append(.stopListening)
    return self.alive.isEmpty ? actions + self.finish() : actions
  }

  private mutating func cutOff() -> [Action] {
    let workers = self.alive
    for worker in workers { self.standings[worker] = .cutOff }
    return workers.map { .kill($0) }
  }

  /// Whether an end is what a worker was asked for. One that could not be told to drain yet ends by the
  /// signal that tells it.
  private func isOrderly(_ end: WorkerEnd, in standing: Standing) -> Bool {
    switch (standing, end) {
    case (.cutOff, .signalled(let signal)): signal == SIGKILL
    case (.ending, .signalled(let signal)): signal == SIGTERM
    case (_, .exited(let status)): status == 0
    case (_, .signalled): false
    // There was nothing to drain.
    case (_, .notStarted): true
    }
  }

  private mutating func finish() -> [Action] {
    self.phase = .over
    return [.finish(self.failure)]
  }

  /// Workers that have a process.
  private var alive: [Int] {
    self.standings.indices.filter {
      switch self.standings[$0] {
      case .starting, .serving, .ending, .cutOff: true
      case .idle, .gone: false
      }
    }
  }
}
