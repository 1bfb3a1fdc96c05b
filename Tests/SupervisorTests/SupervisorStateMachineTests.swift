import SidelightSupervisor
import Testing

@Suite struct SupervisorStateMachineTests {
  typealias Machine = SupervisorStateMachine
  static let crash = WorkerEnd.signalled(11)

  /// Returns a machine whose workers all serve.
  static func serving(_ workers: Int = 2) -> Machine {
    var machine = Machine(workers: workers, backoff: RestartBackoff())
    _ = machine.start()
    for worker in 0 ..< workers { _ = machine.handle(.ready(worker)) }
    return machine
  }

  // MARK: Starting

  @Test func `the first worker serves before the others start, and all before the announcement`() {
    var machine = Machine(workers: 3, backoff: RestartBackoff())
    #expect(machine.start() == [.start(0)])
    #expect(machine.handle(.ready(0)) == [.start(1), .start(2)])
    #expect(machine.handle(.ready(2)) == [])
    #expect(machine.handle(.ready(1)) == [.announce])
  }

  @Test func `one worker alone is announced when it serves`() {
    var machine = Machine(workers: 1, backoff: RestartBackoff())
    _ = machine.start()
    #expect(machine.handle(.ready(0)) == [.announce])
  }

  @Test(arguments: [WorkerEnd.exited(64), .exited(0), .signalled(11), .notStarted(12)])
  func `the supervisor finishes if the first worker ends before it serves`(end: WorkerEnd) {
    var machine = Machine(workers: 2, backoff: RestartBackoff())
    _ = machine.start()
    let failure = WorkerFailure(worker: 0, end: end)
    #expect(
      machine.handle(.ended(0, end, uptime: .zero)) == [.stopListening, .finish(failure)])
  }

  @Test func `all workers drain if another ends before it serves for the first time`() {
    var machine = Machine(workers: 2, backoff: RestartBackoff())
    _ = machine.start()
    _ = machine.handle(.ready(0))
    #expect(
      machine.handle(.ended(1, .exited(1), uptime: .zero)) == [.terminate(0), .stopListening])
    #expect(
      machine.handle(.ended(0, .exited(0), uptime: .seconds(1)))
        == [.finish(WorkerFailure(worker: 1, end: .exited(1)))])
  }

  // MARK: Serving

  @Test func `a worker that ends is restarted, and the others continue`() {
    var machine = Self.serving()
    #expect(machine.handle(.ended(1, Self.crash, uptime: .seconds(60))) == [.start(1)])
    #expect(machine.handle(.ready(1)) == [])
  }

  @Test func `a worker that exits with status 0 is restarted too`() {
    var machine = Self.serving()
    #expect(machine.handle(.ended(0, .exited(0), uptime: .seconds(60))) == [.start(0)])
  }

  @Test func `each worker has a separate restart delay`() {
    var machine = Self.serving()
    #expect(machine.handle(.ended(0, Self.crash, uptime: .zero)) == [.start(0)])
    let delay = RestartBackoff().initialDelay
    #expect(
      machine.handle(.ended(0, Self.crash, uptime: .zero)) == [.startLater(0, after: delay)])
    #expect(machine.handle(.ended(1, Self.crash, uptime: .zero)) == [.start(1)])
    #expect(machine.handle(.restartDue(0)) == [.start(0)])
    #expect(
      machine.handle(.ended(0, .notStarted(12), uptime: .zero))
        == [.startLater(0, after: delay * 2)])
  }

  // MARK: Reloading

  @Test func `all serving workers reload, and a starting worker once it serves`() {
    var machine = Self.serving(3)
    _ = machine.handle(.ended(1, Self.crash, uptime: .zero))
    _ = machine.handle(.ended(2, Self.crash, uptime: .zero))
    _ = machine.handle(.ended(2, Self.crash, uptime: .zero))
    // One serves, one starts, and one waits: it reads the settings when it starts.
    #expect(machine.handle(.reload) == [.reload(0)])
    #expect(machine.handle(.ready(1)) == [.reload(1)])
    #expect(machine.handle(.restartDue(2)) == [.start(2)])
    #expect(machine.handle(.ready(2)) == [])
  }

  // MARK: Ending

  @Test func `the supervisor finishes when all workers have drained`() {
    var machine = Self.serving()
    #expect(machine.handle(.terminate) == [.terminate(0), .terminate(1), .stopListening])
    #expect(machine.handle(.ended(1, .exited(0), uptime: .seconds(1))) == [])
    #expect(machine.handle(.ended(0, .exited(0), uptime: .seconds(1))) == [.finish(nil)])
  }

  @Test func `a worker that crashes while it drains is reported, and not restarted`() {
    var machine = Self.serving()
    _ = machine.handle(.terminate)
    #expect(machine.handle(.ended(0, Self.crash, uptime: .seconds(1))) == [])
    #expect(
      machine.handle(.ended(1, .exited(0), uptime: .seconds(1)))
        == [.finish(WorkerFailure(worker: 0, end: Self.crash))])
  }

  @Test func `a worker that SIGTERM ends before it handles signals is no failure`() {
    var machine = Machine(workers: 1, backoff: RestartBackoff())
    _ = machine.start()
    #expect(machine.handle(.terminate) == [.terminate(0), .stopListening])
    #expect(machine.handle(.ended(0, .signalled(15), uptime: .zero)) == [.finish(nil)])
  }

  @Test func `a worker that becomes ready while all drain is not announced`() {
    var machine = Machine(workers: 1, backoff: RestartBackoff())
    _ = machine.start()
    _ = machine.handle(.terminate)
    #expect(machine.handle(.ready(0)) == [])
  }

  @Test func `a worker that waits for its restart is not started during a drain`() {
    var machine = Self.serving(1)
    _ = machine.handle(.ended(0, Self.crash, uptime: .zero))
    _ = machine.handle(.ended(0, Self.crash, uptime: .zero))
    #expect(machine.handle(.terminate) == [.stopListening, .finish(nil)])
    #expect(machine.handle(.restartDue(0)) == [])
  }

  @Test func `workers that remain after the grace period are killed, without a failure`() {
    var machine = Self.serving()
    _ = machine.handle(.terminate)
    _ = machine.handle(.ended(0, .exited(0), uptime: .seconds(1)))
    #expect(machine.handle(.gracePeriodEnded) == [.kill(1)])
    #expect(machine.handle(.ended(1, .signalled(9), uptime: .seconds(1))) == [.finish(nil)])
  }

  @Test func `a worker killed before the grace period ends is a failure`() {
    var machine = Self.serving(1)
    _ = machine.handle(.terminate)
    #expect(
      machine.handle(.ended(0, .signalled(9), uptime: .seconds(1)))
        == [.finish(WorkerFailure(worker: 0, end: .signalled(9)))])
  }

  @Test func `a second signal kills all workers and exits`() {
    var machine = Self.serving()
    _ = machine.handle(.terminate)
    _ = machine.handle(.ended(0, .exited(0), uptime: .seconds(1)))
    #expect(machine.handle(.terminate) == [.kill(1), .exitImmediately])
  }

  @Test func `the end of a grace period is ignored while no worker drains`() {
    var machine = Self.serving(1)
    #expect(machine.handle(.gracePeriodEnded) == [])
    #expect(machine.handle(.reload) == [.reload(0)])
  }
}
