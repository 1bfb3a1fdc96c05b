import Foundation
import Logging
import SidelightServer
import UnixSignals

/// The processes of a supervisor's workers. Performs the actions of ``SupervisorStateMachine``.
final class WorkerPool: Sendable {
  private enum Event: Sendable {
    case signal(UnixSignal)
    case process(Int, WorkerProcess.Event)
    case notStarted(Int, SystemCallError)
    case restartDue(Int)
    case gracePeriodEnded
  }

  private let supervisor: Supervisor
  private let sockets: [ListeningSocket]
  private let onListening: @Sendable ([Address]) -> Void
  private let program = Program.current
  private let secret: [UInt8]
  private let events: AsyncStream<Event>
  /// Bounded by its producers: two events and a timer per process, and signals.
  private let continuation: AsyncStream<Event>.Continuation

  init(
    _ supervisor: Supervisor, sockets: [ListeningSocket],
    onListening: @escaping @Sendable ([Address]) -> Void
  ) {
    self.supervisor = supervisor
    self.sockets = sockets
    self.onListening = onListening
    var generator = SystemRandomNumberGenerator()
    self.secret = (0 ..< ControlSocket.secretBytes).map { _ in
      .random(in: .min ... .max, using: &generator)
    }
    (self.events, self.continuation) = AsyncStream.makeStream()
  }

  /// Handles a signal for the supervisor.
  func handle(_ signal: UnixSignal) { self.continuation.yield(.signal(signal)) }

  /// Runs until all workers have ended as requested, or the task is cancelled.
  ///
  /// - Throws: ``WorkerFailure``.
  func run() async throws {
    var state = State(count: self.supervisor.workers)
    var machine = SupervisorStateMachine(
      workers: self.supervisor.workers, backoff: self.supervisor.backoff)
    defer { self.abandon(state) }
    try await withThrowingDiscardingTaskGroup { group in
      defer { group.cancelAll() }
      var actions = machine.start()
      var events = self.events.makeAsyncIterator()
      repeat {
        for action in actions {
          switch action {
          case .startLater(let worker, let delay): self.schedule(delay, .restartDue(worker), &group)
          case .stopListening:
            if !state.isListening { break }
            state.isListening = false
            for socket in self.sockets { socket.close() }
            self.schedule(self.supervisor.shutdownGrace, .gracePeriodEnded, &group)
          case .exitImmediately:
            self.supervisor.logger.notice("second signal: killing workers")
            for socket in self.sockets { socket.removeFile() }
            _exit(128 + (state.signal?.rawValue ?? SIGTERM))
          case .finish(let failure):
            if let failure { throw failure }
            return
          default: self.perform(action, &state)
          }
        }
        guard let event = await events.next() else { return }
        actions = self.handle(event, &machine, &state)
      } while true
    }
  }

  /// The processes, and the state of the shutdown.
  private struct State {
    var processes: [WorkerProcess?]
    var starts: [Int]
    var isListening = true
    /// The last signal that requested the end.
    var signal: UnixSignal?

    init(count: Int) {
      self.processes = Array(repeating: nil, count: count)
      self.starts = Array(repeating: 0, count: count)
    }
  }

  /// Sends an event after a delay, unless the pool ends before.
  private func schedule(
    _ delay: Duration, _ event: Event, _ group: inout ThrowingDiscardingTaskGroup<any Error>
  ) {
    group.addTask { [continuation] in
      do {
        try await Task.sleep(for: delay)
        continuation.yield(event)
      } catch {
        // Only cancellation ends the wait: the pool has ended, and no longer handles events. An
        // error would end the group instead.
      }
    }
  }

  // MARK: Events

  private func handle(
    _ event: Event, _ machine: inout SupervisorStateMachine, _ state: inout State
  ) -> [SupervisorStateMachine.Action] {
    switch event {
    case .signal(.sighup): return machine.handle(.reload)
    case .signal(let signal):
      self.supervisor.logger.notice("draining workers", metadata: ["signal": "\(signal)"])
      state.signal = signal
      return machine.handle(.terminate)
    case .process(let worker, .ready):
      state.processes[worker]?.served = .now
      if let process = state.processes[worker] {
        self.supervisor.logger.notice(
          "worker serving",
          metadata: self.metadata(worker, process.id, ["after": "\(process.started.untilNow)"]))
      }
      return machine.handle(.ready(worker))
    case .process(let worker, .ended):
      guard let process = state.processes[worker] else { return [] }
      state.processes[worker] = nil
      return self.recordEnd(
        worker, process.reap(), process.id, uptime: process.served?.untilNow ?? .zero, &machine)
    case .notStarted(let worker, let failure):
      return self.recordEnd(worker, .notStarted(failure.code), nil, uptime: .zero, &machine)
    case .restartDue(let worker): return machine.handle(.restartDue(worker))
    case .gracePeriodEnded:
      self.supervisor.logger.notice("shutdown grace period over: killing remaining workers")
      return machine.handle(.gracePeriodEnded)
    }
  }

  private func recordEnd(
    _ worker: Int, _ end: WorkerEnd, _ id: pid_t?, uptime: Duration,
    _ machine: inout SupervisorStateMachine
  ) -> [SupervisorStateMachine.Action] {
    let actions = machine.handle(.ended(worker, end, uptime: uptime))
    var restart = "never"
    for action in actions {
      switch action {
      case .start(worker): restart = "at once"
      case .startLater(worker, let delay): restart = "in \(delay)"
      default: break
      }
    }
    self.supervisor.logger.log(
      level: end == .exited(0) ? .notice : .error, "worker ended",
      metadata: self.metadata(
        worker, id, ["end": "\(end)", "served": "\(uptime)", "restart": "\(restart)"]))
    return actions
  }

  private func metadata(
    _ worker: Int, _ id: pid_t?, _ additions: Logger.Metadata
  ) -> Logger.Metadata {
    var metadata = additions
    metadata["worker"] = "\(worker)"
    if let id { metadata["pid"] = "\(id)" }
    return metadata
  }

  // MARK: Actions

  private func perform(_ action: SupervisorStateMachine.Action, _ state: inout State) {
    switch action {
    case .start(let worker):
      state.starts[worker] += 1
      do throws(SystemCallError) {
        state.processes[worker] = try WorkerProcess(
          self.program,
          WorkerInheritance(
            index: worker, count: self.supervisor.workers, starts: state.starts[worker],
            sockets: self.sockets.map {
              .init(address: $0.address.description, descriptor: $0.descriptor)
            }), secret: self.secret
        ) { [continuation] in continuation.yield(.process(worker, $0)) }
      } catch {
        self.continuation.yield(.notStarted(worker, error))
      }
    case .announce: self.onListening(self.sockets.map(\.address))
    case .reload(let worker): state.processes[worker]?.send(SIGHUP)
    case .terminate(let worker): state.processes[worker]?.send(SIGTERM)
    case .kill(let worker): state.processes[worker]?.send(SIGKILL)
    case .startLater, .stopListening, .exitImmediately, .finish: break
    }
  }

  /// Kills the remaining workers, and closes the sockets.
  private func abandon(_ state: State) {
    for process in state.processes.compactMap(\.self) {
      process.send(SIGKILL)
      _ = process.reap()
    }
    guard state.isListening else { return }
    for socket in self.sockets { socket.close() }
  }
}

extension ContinuousClock.Instant {
  /// The time since the instant.
  fileprivate var untilNow: Duration { self.duration(to: .now) }
}
