import SidelightKernels
import SidelightServer
import SidelightTestSupport
import Synchronization
import Testing

/// Long turns that pause for much shorter ones.
@Suite(.timeLimit(.minutes(5))) struct FrameSchedulerPauseTests {
  typealias Machine = FrameScheduler.StateMachine

  /// A list of events, from several tasks.
  final class Events: Sendable {
    private let events = Mutex<[String]>([])

    var all: [String] { self.events.withLock { $0 } }

    func add(_ event: String) { self.events.withLock { $0.append(event) } }
  }

  /// A machine of one thread on which session 1 runs a long turn, and session 2 waits.
  static func waiting(cost: Duration?) -> Machine {
    var machine = Machine(threads: 1)
    _ = machine.request(session: 1, deadline: .zero, cost: .milliseconds(100), at: .zero)
    _ = machine.request(session: 2, deadline: .seconds(1), cost: cost, at: .zero)
    return machine
  }

  static func pause(_ machine: inout Machine, work: Duration = .zero) -> Machine.Pause? {
    machine.pause(
      session: 1, deadline: .zero, cost: .milliseconds(100), work: work, at: .zero)
  }

  @Test(
    arguments: [(1, true), (25, true), (26, false), (100, false), (nil, false)]
      as [(Int?, Bool)])
  func `a turn pauses for frames of a quarter of its cost at most`(cost: Int?, pauses: Bool) {
    var machine = Self.waiting(cost: cost.map { .milliseconds($0) })
    let pause = Self.pause(&machine)
    #expect((pause != nil) == pauses)
  }

  @Test func `a turn does not pause for a session that has had more service`() {
    for (work, pauses) in [(Duration.milliseconds(4), false), (.milliseconds(5), true)] {
      var machine = Self.waiting(cost: .milliseconds(1))
      machine.charge(session: 2, work: .milliseconds(5))
      let pause = Self.pause(&machine, work: work)
      #expect((pause != nil) == pauses)
    }
  }

  @Test func `a paused turn continues before waiting turns that are not shorter`() {
    var machine = Self.waiting(cost: .milliseconds(1))
    // Its deadline is earlier, and its session has had less service.
    _ = machine.request(session: 3, deadline: .zero, cost: .milliseconds(50), at: .zero)
    let pause = Self.pause(&machine, work: .milliseconds(10))
    #expect(pause == .init(ticket: 2, grant: .init(ticket: 0, bands: 1)))
    let next = machine.finish(session: 2, work: .milliseconds(1), at: .zero)
    #expect(next == .init(ticket: 2, bands: 1))
    let last = machine.finish(session: 1, work: .milliseconds(90), at: .zero)
    #expect(last == .init(ticket: 1, bands: 1))
  }

  @Test func `short turns go first, as long as their session has had no more service`() {
    var machine = Self.waiting(cost: .milliseconds(1))
    _ = Self.pause(&machine, work: .milliseconds(2))
    // Session 2 always has another frame, until it has had as much as the paused one.
    var grants: [UInt64] = []
    for ticket: UInt64 in 2 ... 5 {
      _ = machine.request(
        session: 2, deadline: .seconds(1), cost: .milliseconds(1), at: .zero)
      let grant = machine.finish(session: 2, work: .milliseconds(1), at: .zero)
      guard let grant, grant.ticket == ticket else { break }
      grants.append(ticket)
    }
    #expect(grants == [2, 3])
  }

  @Test(arguments: [true, false])
  func `a turn that pauses is charged once, and its meter leaves out the pause`(
    _ wasActive: Bool
  ) async throws {
    let clock = ManualClock()
    let compute = ComputePool(threadCount: 1)
    defer { compute.shutdown() }
    let scheduler = FrameScheduler(compute: compute, clock: clock.sessionClock)
    // Passes are only divided while other sessions are active, or wait.
    if wasActive { try await scheduler.withTurn(session: 2, deadline: .zero) { _, _ in } }
    let events = Events()
    try await scheduler.withTurn(
      session: 1, deadline: .zero, cost: .milliseconds(100)
    ) { bands, meter in
      async let short: Void = scheduler.withTurn(
        session: 2, deadline: .zero, cost: .milliseconds(1)
      ) { _, _ in
        events.add("short")
        clock.advance(by: .milliseconds(5))
      }
      try await expectEventually("it waits") { scheduler.waitingCount == 1 }
      var runner = BandRunner(maxBands: bands)
      runner.meter = meter
      await runner.run(rows: 100, nanoseconds: 100_000_000) { rows in
        events.add("slice")
        clock.advance(by: .milliseconds(rows.count))
      }
      #expect(meter.paused == .milliseconds(5))
      #expect(meter.beyondElapsed == .milliseconds(-5))
      try await short
    }
    let order = events.all
    #expect(order.first == "short")
    #expect(order.count { $0 == "slice" } >= 30, "100 ms are divided into slices of about 2 ms")
  }
}
