import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Tests of the pace at which a client is notified of superseded frames.
@Suite struct NoticePacerTests {
  typealias Machine = OutcomeQueue<String, String>.StateMachine

  /// A machine that has sent a frame at 0 ms and at 100 ms, sends two notices per frame, and holds
  /// frames 3 to 5, which frame 6 has superseded.
  static func overloaded() -> Machine {
    var machine = Machine(pictureLimit: 8, backlogLimit: 256, noticesPerFrame: 2)
    for sequence: UInt64 in 1 ... 2 {
      let arrival = machine.reserve(sequence: sequence, byteCount: 1).arrival
      _ = machine.resolve(arrival, finished: OutcomeQueueStateMachineTests.finished(sequence))
      _ = OutcomeQueueStateMachineTests.drain(&machine, at: .milliseconds(100) * Int(sequence - 1))
    }
    let arrivals = (3 ... 6).map { machine.reserve(sequence: $0, byteCount: 1).arrival }
    for arrival in arrivals.dropLast() {
      machine.resolve(arrival, dropped: OutcomeQueueStateMachineTests.superseded)
    }
    return machine
  }

  /// The arrival number of frame 6: they are counted from 0.
  static let newest: UInt64 = 5

  @Test func `superseded frames are reported one by one, at the pace of finished frames`() {
    var machine = Self.overloaded()
    #expect(
      OutcomeQueueStateMachineTests.drain(&machine, at: .milliseconds(110)) == ["superseded 3-3 x1"]
    )
    guard case .waitUntil(let time) = machine.next(at: .milliseconds(120)) else {
      Issue.record("the second does not wait")
      return
    }
    #expect(time == .milliseconds(160))
    #expect(OutcomeQueueStateMachineTests.drain(&machine, at: .milliseconds(159)) == [])
    #expect(OutcomeQueueStateMachineTests.drain(&machine, at: time) == ["superseded 4-4 x1"])
    #expect(
      OutcomeQueueStateMachineTests.drain(&machine, at: .milliseconds(210)) == ["superseded 5-5 x1"]
    )
    guard case .wait = machine.next(at: .seconds(10)) else {
      Issue.record("there is something to say, though frame 6 has no outcome")
      return
    }
  }

  @Test func `a finished frame is sent immediately, after the superseded frames before it`() {
    var machine = Self.overloaded()
    _ = OutcomeQueueStateMachineTests.drain(&machine, at: .milliseconds(110))
    _ = machine.resolve(Self.newest, finished: OutcomeQueueStateMachineTests.finished(6))
    #expect(
      OutcomeQueueStateMachineTests.drain(&machine, at: .milliseconds(111))
        == ["superseded 4-5 x2", "frame 6"])
  }

  @Test func `drops for other reasons, control messages and the end are not delayed`() {
    var machine = Self.overloaded()
    _ = OutcomeQueueStateMachineTests.drain(&machine, at: .milliseconds(110))
    machine.push("control")
    #expect(OutcomeQueueStateMachineTests.drain(&machine, at: .milliseconds(111)) == ["control"])
    machine.resolve(Self.newest, dropped: Drop(reason: .lateInPipeline, stage: .mailbox))
    machine.finish()
    #expect(
      OutcomeQueueStateMachineTests.drain(&machine, at: .milliseconds(111))
        == ["superseded 4-5 x2", "lateInPipeline 6-6 x1", "final"])
  }

  @Test func `the credits of superseded frames return with their notices`() {
    var machine = Machine(
      pictureLimit: 8, backlogLimit: 256, creditLimit: 2, noticesPerFrame: 2)
    for sequence: UInt64 in 1 ... 2 {
      let arrival = machine.reserve(sequence: sequence, byteCount: 1).arrival
      _ = machine.resolve(arrival, finished: OutcomeQueueStateMachineTests.finished(sequence))
      _ = OutcomeQueueStateMachineTests.drain(&machine, at: .milliseconds(100) * Int(sequence - 1))
    }
    for sequence: UInt64 in 3 ... 5 {
      let reservation = machine.reserve(sequence: sequence, byteCount: 1)
      #expect(reservation.hasCredit)
      if sequence > 3 {
        machine.resolve(reservation.arrival - 1, dropped: OutcomeQueueStateMachineTests.superseded)
      }
      _ = OutcomeQueueStateMachineTests.drain(&machine, at: .milliseconds(110))
    }
    // 3 gave way to 4 and was reported; 4 gave way to 5, and waits for its time.
    let early = machine.reserve(sequence: 6, byteCount: 1)
    #expect(!early.hasCredit)
  }

  @Test func `without a known pace, superseded frames are reported immediately, in one notice`() {
    var machine = Machine(pictureLimit: 8, backlogLimit: 256, noticesPerFrame: 2)
    let arrivals = (1 ... 4).map { machine.reserve(sequence: $0, byteCount: 1).arrival }
    for arrival in arrivals.dropLast() {
      machine.resolve(arrival, dropped: OutcomeQueueStateMachineTests.superseded)
    }
    #expect(OutcomeQueueStateMachineTests.drain(&machine) == ["superseded 1-3 x3"])
  }

  @Test func `a pause of the sender does not change the pace`() {
    var pace = NoticePacer(noticesPerFrame: 4)
    for time in [0, 40, 80, 3_600_000, 3_600_040] as [Int] {
      pace.recordFinished(at: .milliseconds(time))
    }
    pace.recordNotice(at: .seconds(3601))
    #expect(pace.next == .milliseconds(3_601_010))
  }

  @Test(.timeLimit(.minutes(5)))
  func `the outcome queue releases delayed notices by its own timer`() async {
    let clock = ManualClock()
    let queue = OutcomeQueue<String, String>(
      pictureLimit: 8, noticesPerFrame: 1, now: { clock.now })
    var received: [UInt64] = []
    func next() async {
      switch await queue.next() {
      case .frame(let frame)?: received.append(frame.sequence)
      case .dropped(let run)?: received.append(run.firstSequence)
      case .applied?, .control?, .finalCounts?, nil: break
      }
    }
    for sequence: UInt64 in 1 ... 2 {
      let arrival = queue.reserve(sequence: sequence, byteCount: 1).arrival
      queue.resolve(arrival, finished: OutcomeQueueStateMachineTests.finished(sequence))
      if sequence == 1 { await next() }
      await next()
      clock.advance(by: .milliseconds(100))
    }
    let arrivals = (3 ... 5).map { queue.reserve(sequence: $0, byteCount: 1).arrival }
    for arrival in arrivals.dropLast() {
      queue.resolve(arrival, dropped: OutcomeQueueStateMachineTests.superseded)
    }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await queue.runTimer(clock.sessionClock.wait) }
      await next()
      #expect(received == [1, 2, 3])
      group.addTask { await clock.tick(by: .milliseconds(100)) }
      await next()
      #expect(received == [1, 2, 3, 4])
      queue.cancel()
      group.cancelAll()
    }
  }

  @Test(.timeLimit(.minutes(5)))
  func `a session reports superseded frames while it waits for a turn`() async throws {
    let clock = ManualClock()
    let gate = Gate()
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(gate.filter)
    var configuration = ServerConfiguration()
    configuration.computeThreads = 1
    configuration.framesInFlight = 8
    let image = Sidelight_V1_Image.noise(.bgra8, 8, 8)
    let answers = Answers()
    let (steps, step) = AsyncStream<Void>.makeStream()
    try await withServer(
      configuration, catalogue: catalogue, clock: clock.sessionClock
    ) { _, address in
      try await withStub(address) { stub in
        try await withThrowingTaskGroup(of: Void.self) { group in
          let (started, begin) = AsyncStream<Never>.makeStream()
          let (ends, end) = AsyncStream<Never>.makeStream()
          // Another's filter takes the only turn.
          group.addTask {
            for await _ in started {}
            try await stub.process { writer in
              try await writer.write(.open([.filter("gate")]))
              try await writer.write(.frame(1, image))
              for await _ in ends {}
            } onResponse: { response in
              for try await _ in response.messages {}
            }
          }
          try await stub.process { writer in
            var received = steps.makeAsyncIterator()
            try await writer.write(.open([.filter("sepiaTone")], policy: .newestWins))
            // Two frames, 8 ms apart: that is the session's pace, and a notice a millisecond.
            for sequence: UInt64 in 1 ... 2 {
              try await writer.write(.frame(sequence, image))
              while answers.messages.frames.count < sequence { await received.next() }
              clock.advance(by: .milliseconds(8))
            }
            begin.finish()
            for await _ in gate.entered { break }
            for sequence: UInt64 in 3 ... 8 { try await writer.write(.frame(sequence, image)) }
            // One or two wait, the others give way: one is reported at once, the next later.
            for count in 1 ... 4 {
              while answers.messages.drops.count < count { await received.next() }
              #expect(answers.messages.drops.map(\.count) == Array(repeating: 1, count: count))
              guard count < 4 else { break }
              await clock.awaited(within: .milliseconds(1))
              clock.advance(by: .milliseconds(1))
            }
            gate.open(for: 1)
            end.finish()
          } onResponse: { response in
            for try await message in response.messages {
              answers.add(message)
              step.yield()
            }
          }
          try await group.waitForAll()
        }
      }
    }
    let returned = answers.messages.frames.map(\.sequence)
    #expect([[1, 2, 7, 8], [1, 2, 8]].contains(returned))
    #expect(answers.messages.finalStats?.outcomes == 8)
  }
}
