import Foundation
import Logging
import SidelightServer
import UnixSignals

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The processes of a supervisor's workers. Performs the actions of ``SupervisorStateMachine``.
final class WorkerCrew: Sendable {
  private enum Event: Sendable {
    case signal(UnixSignal)
    case process(Int, WorkerProcess.News)
    case notStarted(Int, SystemFailure)
    case restartDue(Int)
    case graceOver
  }

  private let supervisor: Supervisor
  private let sockets: [ListeningSocket]
  private let onListening: @Sendable ([Address]) -> Void
  private let program = Program.current
  private let secret: [UInt8]
  private let events: AsyncStream<Event>
  /// Bounded by its producers: two events and a timer per process, and signals.
  private let news: AsyncStream<Event>.Continuation

  init(
    _ supervisor: Supervisor, sockets: [ListeningSocket],
    onListening: @escaping @Sendable ([Address]) -> Void
  ) {
    self.supervisor = supervisor
    self.sockets = sockets
    self.onListening = onListening
    var generator = SystemRandomNumberGenerator()
    self.secret = (0 ..< ControlLine.secretBytes).map { _ in
      .random(in: .min ... .max, using: &generator)
    }
    (self.events, self.news) = AsyncStream.makeStream()
  }

  /// Handles a signal for the supervisor.
  func note(_ signal: UnixSignal) { self.news.yield(.signal(signal)) }

  /// Runs until all workers have ended as requested, or the task is cancelled.
  ///
  /// - Throws: ``WorkerFailure``.
  func work() async throws {
    var hands = Hands(count: self.supervisor.workers)
    var machine = SupervisorStateMachine(
      workers: self.supervisor.workers, backoff: self.supervisor.backoff)
    defer { self.abandon(hands) }
    try await withThrowingDiscardingTaskGroup { group in
      defer { group.cancelAll() }
      var actions = machine.begin()
      var events = self.events.makeAsyncIterator()
      repeat {
        for action in actions {
          switch action {
          case .startLater(let worker, let delay): self.wait(delay, .restartDue(worker), &group)
          case .stopListening:
            if !hands.isListening { break }
            hands.isListening = false
            for socket in self.sockets { socket.close() }
            self.wait(self.supervisor.shutdownGrace, .graceOver, &group)
          case .exitAtOnce:
            self.supervisor.logger.notice("second signal: killing workers")
            for socket in self.sockets { socket.removeFile() }
            _exit(128 + (hands.signal?.rawValue ?? SIGTERM))
          case .finish(let failure):
            if let failure { throw failure }
            return
          default: self.perform(action, &hands)
          }
        }
        guard let event = await events.next() else { return }
        actions = self.take(event, &machine, &hands)
      } while true
    }
  }

  /// The processes, and the state of the shutdown.
  private struct Hands {
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

  private func wait(
    _ delay: Duration, _ event: Event, _ group: inout ThrowingDiscardingTaskGroup<any Error>
  ) {
    group.addTask { [news] in
      guard (try? await Task.sleep(for: delay)) != nil else { return }
      news.yield(event)
    }
  }

  // MARK: Events

  private func take(
    _ event: Event, _ machine: inout SupervisorStateMachine, _ hands: inout Hands
  ) -> [SupervisorStateMachine.Action] {
    switch event {
    case .signal(.sighup): return machine.handle(.reload)
    case .signal(let signal):
      self.supervisor.logger.notice("draining workers", metadata: ["signal": "\(signal)"])
      hands.signal = signal
      return machine.handle(.terminate)
    case .process(let worker, .ready):
      hands.processes[worker]?.served = .now
      if let process = hands.processes[worker] {
        self.supervisor.logger.notice(
          "worker serving",
          metadata: self.metadata(worker, process.id, ["after": "\(process.started.untilNow)"]))
      }
      return machine.handle(.ready(worker))
    case .process(let worker, .ended):
      guard let process = hands.processes[worker] else { return [] }
      hands.processes[worker] = nil
      return self.note(
        worker, process.reap(), process.id, life: process.served?.untilNow ?? .zero, &machine)
    case .notStarted(let worker, let failure):
      return self.note(worker, .notStarted(failure.code), nil, life: .zero, &machine)
    case .restartDue(let worker): return machine.handle(.restartDue(worker))
    case .graceOver:
      self.supervisor.logger.notice("shutdown grace period over: killing remaining workers")
      return machine.handle(.graceOver)
    }
  }

  private func note(
    _ worker: Int, _ end: WorkerEnd, _ id: pid_t?, life: Duration,
    _ machine: inout SupervisorStateMachine
  ) -> [SupervisorStateMachine.Action] {
    let actions = machine.handle(.ended(worker, end, life: life))
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
        worker, id, ["end": "\(end)", "served": "\(life)", "restart": "\(restart)"]))
    return actions
  }

  private func metadata(
    _ worker: Int, _ id: pid_t?, _ more: Logger.Metadata
  ) -> Logger.Metadata {
    var metadata = more
    metadata["worker"] = "\(worker)"
    if let id { metadata["pid"] = "\(id)" }
    return metadata
  }

  // MARK: Actions

  private func perform(_ action: SupervisorStateMachine.Action, _ hands: inout Hands) {
    switch action {
    case .start(let worker):
      hands.starts[worker] += 1
      do throws(SystemFailure) {
        hands.processes[worker] = try WorkerProcess(
          self.program,
          WorkerInheritance(
            index: worker, count: self.supervisor.workers, starts: hands.starts[worker],
            sockets: self.sockets.map {
              .init(address: $0.address.description, descriptor: $0.descriptor)
            }), secret: self.secret
        ) { [news] in news.yield(.process(worker, $0)) }
      } catch {
        self.news.yield(.notStarted(worker, error))
      }
    case .announce: self.onListening(self.sockets.map(\.address))
    case .reload(let worker): hands.processes[worker]?.send(SIGHUP)
    case .terminate(let worker): hands.processes[worker]?.send(SIGTERM)
    case .kill(let worker): hands.processes[worker]?.send(SIGKILL)
    case .startLater, .stopListening, .exitAtOnce, .finish: break
    }
  }

  /// Kills the workers that are left, and closes the sockets.
  private func abandon(_ hands: Hands) {
    for process in hands.processes.compactMap(\.self) {
      process.send(SIGKILL)
      _ = process.reap()
    }
    guard hands.isListening else { return }
    for socket in self.sockets { socket.close() }
  }
}

extension ContinuousClock.Instant {
  /// The time since the instant.
  fileprivate var untilNow: Duration { self.duration(to: .now) }
}
