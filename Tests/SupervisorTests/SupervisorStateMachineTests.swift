import SidelightSupervisor
import Testing

@Suite struct SupervisorStateMachineTests {
  typealias Machine = SupervisorStateMachine
  static let crash = WorkerEnd.signalled(11)

  /// A machine of which all workers serve.
  static func serving(_ workers: Int = 2) -> Machine {
    var machine = Machine(workers: workers, backoff: RestartBackoff())
    _ = machine.begin()
    for worker in 0 ..< workers { _ = machine.handle(.ready(worker)) }
    return machine
  }

  // MARK: Starting

  @Test func `the others are started once the first serves, and all are announced once they do`() {
    var machine = Machine(workers: 3, backoff: RestartBackoff())
    #expect(machine.begin() == [.start(0)])
    #expect(machine.handle(.ready(0)) == [.start(1), .start(2)])
    #expect(machine.handle(.ready(2)) == [])
    #expect(machine.handle(.ready(1)) == [.announce])
  }

  @Test func `one worker alone is announced when it serves`() {
    var machine = Machine(workers: 1, backoff: RestartBackoff())
    _ = machine.begin()
    #expect(machine.handle(.ready(0)) == [.announce])
  }

  @Test(arguments: [WorkerEnd.exited(64), .exited(0), .signalled(11), .notStarted(12)])
  func `a first worker that does not come to serve is the end`(end: WorkerEnd) {
    var machine = Machine(workers: 2, backoff: RestartBackoff())
    _ = machine.begin()
    let failure = WorkerFailure(worker: 0, end: end)
    #expect(
      machine.handle(.ended(0, end, life: .zero)) == [.stopListening, .finish(failure)])
  }

  @Test func `a later worker that does not come to serve ends the others`() {
    var machine = Machine(workers: 2, backoff: RestartBackoff())
    _ = machine.begin()
    _ = machine.handle(.ready(0))
    #expect(
      machine.handle(.ended(1, .exited(1), life: .zero)) == [.terminate(0), .stopListening])
    #expect(
      machine.handle(.ended(0, .exited(0), life: .seconds(1)))
        == [.finish(WorkerFailure(worker: 1, end: .exited(1)))])
  }

  // MARK: Serving

  @Test func `a worker that ends is restarted, and no other is touched`() {
    var machine = Self.serving()
    #expect(machine.handle(.ended(1, Self.crash, life: .seconds(60))) == [.start(1)])
    #expect(machine.handle(.ready(1)) == [])
  }

  @Test func `a worker that ends by itself is restarted too`() {
    var machine = Self.serving()
    #expect(machine.handle(.ended(0, .exited(0), life: .seconds(60))) == [.start(0)])
  }

  @Test func `a crash loop waits, each worker for itself`() {
    var machine = Self.serving()
    #expect(machine.handle(.ended(0, Self.crash, life: .zero)) == [.start(0)])
    let delay = RestartBackoff().initialDelay
    #expect(
      machine.handle(.ended(0, Self.crash, life: .zero)) == [.startLater(0, after: delay)])
    #expect(machine.handle(.ended(1, Self.crash, life: .zero)) == [.start(1)])
    #expect(machine.handle(.restartDue(0)) == [.start(0)])
    #expect(
      machine.handle(.ended(0, .notStarted(12), life: .zero))
        == [.startLater(0, after: delay * 2)])
  }

  // MARK: Reloading

  @Test func `all serving workers reload, and a starting worker once it serves`() {
    var machine = Self.serving(3)
    _ = machine.handle(.ended(1, Self.crash, life: .zero))
    _ = machine.handle(.ended(2, Self.crash, life: .zero))
    _ = machine.handle(.ended(2, Self.crash, life: .zero))
    // One serves, one starts, one waits: it will read what is there then.
    #expect(machine.handle(.reload) == [.reload(0)])
    #expect(machine.handle(.ready(1)) == [.reload(1)])
    #expect(machine.handle(.restartDue(2)) == [.start(2)])
    #expect(machine.handle(.ready(2)) == [])
  }

  // MARK: Ending

  @Test func `all drain, and when the last has ended that is the end`() {
    var machine = Self.serving()
    #expect(machine.handle(.terminate) == [.terminate(0), .terminate(1), .stopListening])
    #expect(machine.handle(.ended(1, .exited(0), life: .seconds(1))) == [])
    #expect(machine.handle(.ended(0, .exited(0), life: .seconds(1))) == [.finish(nil)])
  }

  @Test func `a worker that crashes while it drains is reported, and not restarted`() {
    var machine = Self.serving()
    _ = machine.handle(.terminate)
    #expect(machine.handle(.ended(0, Self.crash, life: .seconds(1))) == [])
    #expect(
      machine.handle(.ended(1, .exited(0), life: .seconds(1)))
        == [.finish(WorkerFailure(worker: 0, end: Self.crash))])
  }

  @Test func `a worker that the signal ends before it handles signals is no fault`() {
    var machine = Machine(workers: 1, backoff: RestartBackoff())
    _ = machine.begin()
    #expect(machine.handle(.terminate) == [.terminate(0), .stopListening])
    #expect(machine.handle(.ended(0, .signalled(15), life: .zero)) == [.finish(nil)])
  }

  @Test func `a worker that comes to serve while all drain is not announced`() {
    var machine = Machine(workers: 1, backoff: RestartBackoff())
    _ = machine.begin()
    _ = machine.handle(.terminate)
    #expect(machine.handle(.ready(0)) == [])
  }

  @Test func `who waits for its next start is not started any more`() {
    var machine = Self.serving(1)
    _ = machine.handle(.ended(0, Self.crash, life: .zero))
    _ = machine.handle(.ended(0, Self.crash, life: .zero))
    #expect(machine.handle(.terminate) == [.stopListening, .finish(nil)])
    #expect(machine.handle(.restartDue(0)) == [])
  }

  @Test func `what is left when the grace is over is cut off, and that is no fault`() {
    var machine = Self.serving()
    _ = machine.handle(.terminate)
    _ = machine.handle(.ended(0, .exited(0), life: .seconds(1)))
    #expect(machine.handle(.gracePeriodEnded) == [.kill(1)])
    #expect(machine.handle(.ended(1, .signalled(9), life: .seconds(1))) == [.finish(nil)])
  }

  @Test func `a worker killed before the grace period ends is a fault`() {
    var machine = Self.serving(1)
    _ = machine.handle(.terminate)
    #expect(
      machine.handle(.ended(0, .signalled(9), life: .seconds(1)))
        == [.finish(WorkerFailure(worker: 0, end: .signalled(9)))])
  }

  @Test func `a second signal ends all at once`() {
    var machine = Self.serving()
    _ = machine.handle(.terminate)
    _ = machine.handle(.ended(0, .exited(0), life: .seconds(1)))
    #expect(machine.handle(.terminate) == [.kill(1), .exitImmediately])
  }

  @Test func `the end of a grace period is ignored while no worker drains`() {
    var machine = Self.serving(1)
    #expect(machine.handle(.gracePeriodEnded) == [])
    #expect(machine.handle(.reload) == [.reload(0)])
  }
}
