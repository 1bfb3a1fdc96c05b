import SidelightServer
import Testing

/// All transitions of the scheduler, without tasks or time.
@Suite struct FrameSchedulerStateMachineTests {
  typealias Machine = FrameScheduler.StateMachine

  @Test func `one session has all threads; active sessions share them equally`() {
    var machine = Machine(threads: 4)
    #expect(machine.request(session: 1, deadline: .zero, at: .zero) == .run(bands: 4))
    #expect(machine.request(session: 2, deadline: .zero, at: .zero) == .run(bands: 2))
    #expect(machine.request(session: 3, deadline: .zero, at: .zero) == .run(bands: 1))
  }

  @Test func `a session without recent requests does not count as active`() {
    var machine = Machine(threads: 4)
    for session: UInt64 in 1 ... 4 {
      _ = machine.request(session: session, deadline: .zero, at: .zero)
      _ = machine.finish(session: session, work: .zero, at: .zero)
    }
    let answer = machine.request(session: 1, deadline: .zero, at: .milliseconds(201))
    #expect(answer == .run(bands: 4))
  }

  @Test func `no more frames run than there are threads; the rest wait`() {
    var machine = Machine(threads: 2)
    _ = machine.request(session: 1, deadline: .zero, at: .zero)
    _ = machine.request(session: 2, deadline: .zero, at: .zero)
    #expect(machine.request(session: 3, deadline: .zero, at: .zero) == .wait(ticket: 0))
    let granted = machine.finish(session: 1, work: .zero, at: .zero)
    #expect(granted == .init(ticket: 0, bands: 1))
    let none = machine.finish(session: 2, work: .zero, at: .zero)
    #expect(none == nil)
  }

  @Test func `among sessions within their share the earliest deadline is first`() {
    var machine = Machine(threads: 1)
    _ = machine.request(session: 1, deadline: .zero, at: .zero)
    let deadlines: [Duration] = [.milliseconds(30), .milliseconds(10), .milliseconds(20)]
    for (index, deadline) in deadlines.enumerated() {
      let answer = machine.request(session: UInt64(index) + 2, deadline: deadline, at: .zero)
      #expect(answer == .wait(ticket: UInt64(index)))
    }
    var order: [UInt64] = []
    var running: UInt64 = 1
    while let grant = machine.finish(session: running, work: .zero, at: .zero) {
      order.append(grant.ticket)
      running = grant.ticket + 2
    }
    #expect(order == [1, 2, 0])
  }

  @Test func `threads that a session has beyond its turn count as its share`() {
    var machine = Machine(threads: 1)
    for session: UInt64 in [2, 1] {
      _ = machine.request(session: session, deadline: .zero, at: .zero)
      _ = machine.finish(session: session, work: .zero, at: .zero)
    }
    machine.charge(session: 1, work: .seconds(2))
    _ = machine.request(session: 3, deadline: .zero, at: .zero)
    #expect(machine.request(session: 1, deadline: .zero, at: .zero) == .wait(ticket: 0))
    #expect(machine.request(session: 2, deadline: .seconds(9), at: .zero) == .wait(ticket: 1))
    let first = machine.finish(session: 3, work: .zero, at: .zero)
    #expect(first?.ticket == 1)
  }

  @Test func `a session that has had more than its share waits, however early its deadline`() {
    var machine = Machine(threads: 1)
    // Session 1 has used a second, session 2 has not run yet.
    for session: UInt64 in [2, 1] {
      _ = machine.request(session: session, deadline: .zero, at: .zero)
      _ = machine.finish(
        session: session, work: session == 1 ? .seconds(1) : .zero, at: .zero)
    }
    _ = machine.request(session: 3, deadline: .zero, at: .zero)
    #expect(machine.request(session: 1, deadline: .zero, at: .zero) == .wait(ticket: 0))
    #expect(machine.request(session: 2, deadline: .seconds(9), at: .zero) == .wait(ticket: 1))
    let first = machine.finish(session: 3, work: .zero, at: .zero)
    #expect(first?.ticket == 1)
    let second = machine.finish(session: 2, work: .zero, at: .zero)
    #expect(second?.ticket == 0)
  }

  @Test func `a session with many requests gets no more turns than the others`() {
    var machine = Machine(threads: 1)
    // Session 0 needs four times the time of the others for a frame; all want a turn at any time.
    let costs: [Duration] = [.milliseconds(40)] + Array(repeating: .milliseconds(10), count: 3)
    var service = Array(repeating: Duration.zero, count: costs.count)
    var now = Duration.zero
    var tickets: [UInt64: Int] = [:]
    func ask(_ session: Int, _ machine: inout Machine) -> Bool {
      switch machine.request(session: UInt64(session), deadline: now + costs[session], at: now) {
      case .run: return true
      case .wait(let ticket):
        tickets[ticket] = session
        return false
      }
    }
    var running = 0
    for session in costs.indices where ask(session, &machine) { running = session }
    for _ in 0 ..< 1000 {
      let session = running
      now += costs[session]
      service[session] += costs[session]
      guard
        let grant = machine.finish(
          session: UInt64(session), work: costs[session], at: now)
      else {
        Issue.record("nobody's turn")
        return
      }
      running = tickets.removeValue(forKey: grant.ticket) ?? 0
      _ = ask(session, &machine)
    }
    let mean = service.reduce(.zero, +) / service.count
    for time in service { #expect(abs(time / mean - 1) < 0.1, "\(service)") }
  }

  @Test(arguments: [1, 2, 4])
  func `jobs leave a thread to frames, unless there is only one`(_ threads: Int) {
    var machine = Machine(threads: threads)
    let limit = max(1, threads - 1)
    for session in 0 ..< UInt64(limit) {
      let answer = machine.request(session: session, deadline: .zero, kind: .job, at: .zero)
      guard case .run = answer else { return #expect(Bool(false), "\(answer)") }
    }
    // The next ones wait, also when a frame ends.
    for session: UInt64 in [90, 92] {
      let answer = machine.request(session: session, deadline: .zero, kind: .job, at: .zero)
      guard case .wait = answer else { return #expect(Bool(false), "\(answer)") }
    }
    if threads > 1 {
      let frame = machine.request(session: 91, deadline: .zero, at: .zero)
      #expect(frame == .run(bands: 1))
      #expect(machine.finish(session: 91, work: .zero, at: .zero) == nil)
    }
    // A job that ends makes room for one.
    let granted = machine.finish(session: 0, work: .zero, kind: .job, at: .zero)
    #expect(granted?.ticket == 0)
    #expect(machine.waitingCount == 1)
  }

  @Test func `a job lets waiting frames go first until its deadline`() {
    func order(of kind: FrameScheduler.TurnKind, at now: Duration) -> [UInt64] {
      var machine = Machine(threads: 2)
      for session: UInt64 in [1, 2] {
        _ = machine.request(session: session, deadline: .zero, at: .zero)
      }
      _ = machine.request(session: 3, deadline: .milliseconds(10), kind: kind, at: .zero)
      for session: UInt64 in [4, 5] {
        _ = machine.request(session: session, deadline: .milliseconds(20), at: .zero)
      }
      let first = machine.finish(session: 1, work: .zero, at: now)
      let second = machine.finish(session: 2, work: .zero, at: now)
      return [first, second].compactMap { $0?.ticket }
    }
    #expect(order(of: .frame, at: .zero) == [0, 1])
    #expect(order(of: .job, at: .zero) == [1, 2])
    #expect(order(of: .job, at: .milliseconds(10)) == [0, 1])
  }

  @Test func `a filtered frame is encoded before others begin, whatever its session has had`() {
    var machine = Machine(threads: 1)
    _ = machine.request(session: 1, deadline: .zero, at: .zero)
    _ = machine.request(session: 2, deadline: .zero, at: .zero)
    for (session, deadline): (UInt64, Int) in [(3, 20), (4, 10)] {
      _ = machine.request(
        session: session, deadline: .seconds(deadline), kind: .encoding, at: .zero)
      machine.charge(session: session, work: .seconds(1))
    }
    let first = machine.finish(session: 1, work: .zero, at: .zero)
    #expect(first?.ticket == 2, "the earlier deadline of the two")
    let second = machine.finish(session: 4, work: .zero, kind: .encoding, at: .zero)
    #expect(second?.ticket == 1)
    let third = machine.finish(session: 3, work: .zero, kind: .encoding, at: .zero)
    #expect(third?.ticket == 0)
  }

  @Test func `an idle session accumulates no share`() {
    var machine = Machine(threads: 1)
    _ = machine.request(session: 1, deadline: .zero, at: .zero)
    _ = machine.finish(session: 1, work: .zero, at: .zero)
    for _ in 0 ..< 10 {
      _ = machine.request(session: 2, deadline: .zero, at: .zero)
      _ = machine.finish(session: 2, work: .seconds(1), at: .zero)
    }
    // Session 1 comes back: it is ahead by what session 2 just had, and not by ten seconds.
    _ = machine.request(session: 3, deadline: .zero, at: .seconds(10))
    _ = machine.request(session: 1, deadline: .seconds(10), at: .seconds(10))
    _ = machine.request(session: 2, deadline: .seconds(20), at: .seconds(10))
    let first = machine.finish(session: 3, work: .zero, at: .seconds(10))
    #expect(first?.ticket == 0)
    _ = machine.request(session: 1, deadline: .seconds(10), at: .seconds(10))
    let second = machine.finish(session: 1, work: .seconds(2), at: .seconds(12))
    #expect(second?.ticket == 1, "session 1 has had its two seconds")
  }

  @Test func `a cancelled request is skipped; a granted one cannot be withdrawn`() {
    var machine = Machine(threads: 1)
    _ = machine.request(session: 1, deadline: .zero, at: .zero)
    _ = machine.request(session: 2, deadline: .zero, at: .zero)
    _ = machine.request(session: 3, deadline: .zero, at: .zero)
    let isWithdrawn = machine.withdraw(ticket: 0)
    #expect(isWithdrawn)
    let granted = machine.finish(session: 1, work: .zero, at: .zero)
    #expect(granted?.ticket == 1)
    let isTooLate = !machine.withdraw(ticket: 1)
    #expect(isTooLate)
  }

  @Test
  func `the load is the arriving work, done or not, relative to the capacity of the threads`() {
    var machine = Machine(threads: 2)
    // 50 frames of 20 ms a second are one thread's work.
    for frame in 0 ..< 500 {
      machine.recordArrival(work: .milliseconds(20), session: 1, at: .milliseconds(frame * 20))
    }
    let busy = machine.load(at: .seconds(10))
    #expect(abs(busy - 0.5) < 0.02)
    let half = machine.load(at: .seconds(11))
    #expect(abs(half - 0.25) < 0.02)
    let idle = machine.load(at: .seconds(20))
    #expect(idle == 0)
    machine.leave(session: 1)
    let gone = machine.load(at: .seconds(10))
    #expect(gone == 0)
  }
}
