import GRPCCore
import GRPCProtobuf
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTelemetry
import SidelightTestSupport
import SidelightWire
import Synchronization
import Testing

/// Custom filters that do not return, next to sessions that do not use them.
@Suite(.timeLimit(.minutes(5))) struct IsolationTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 64, 48)

  @Test
  func `with more stuck filters than threads, other sessions still get every frame`() async throws {
    let clock = ManualClock()
    let gate = Gate()
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(gate.filter)
    var configuration = ServerConfiguration()
    configuration.computeThreads = 2
    let registry = PrometheusRegistry()
    try await withServer(
      configuration, catalogue: catalogue, metrics: registry, clock: clock.sessionClock
    ) { server, address in
      try await withThrowingTaskGroup(of: [Sidelight_V1_ServerMessage].self) { group in
        let (ends, end) = AsyncStream<Never>.makeStream()
        let (failures, fail) = AsyncStream<Void>.makeStream()
        for _ in 1 ... 3 {
          group.addTask {
            try await withStub(address) { stub in
              try await stub.process { writer in
                try await writer.write(.open([.filter("gate")]))
                try await writer.write(.frame(1, Self.image))
                for await _ in ends {}
              } onResponse: { response in
                var answers: [Sidelight_V1_ServerMessage] = []
                for try await message in response.messages {
                  answers.append(message)
                  if case .frame? = message.kind { fail.yield() }
                }
                return answers
              }
            }
          }
        }
        // The third frame runs when another frame's turn is over.
        async let _ = clock.tick(by: FrameScheduler.unknownTurnLimit)
        var entered = gate.entered.makeAsyncIterator()
        for _ in 1 ... 3 { await entered.next() }
        server.updateMetrics()
        let standIns = MetricsTests.value("sidelight_stand_in_threads", in: registry) ?? 0
        #expect(standIns >= 1)

        let others = try await withStub(address) { stub in
          try await stub.converseInTurn(
            .open([.filter("gaussianBlur")]), (1 ... 50).map { .frame($0, Self.image) })
        }
        #expect(others.frames.map(\.sequence) == Array(1 ... 50))
        #expect(others.frames.allSatisfy { $0.disposition == .filtered })

        // Ten times the budget of sessions without one: the configuration's two seconds.
        async let _ = clock.tick(by: .seconds(3))
        var failed = failures.makeAsyncIterator()
        for _ in 1 ... 3 { await failed.next() }
        gate.open(for: 3)
        end.finish()
        for try await answers in group {
          #expect(answers.frames.map(\.disposition) == [.passedThrough])
          #expect(answers.frames.first?.failure.message.contains("custom filter") == true)
        }
      }
    }
  }

  @Test func `a stuck filter that a transition leads from does not keep its turn`() async throws {
    let clock = ManualClock()
    let gate = Gate()
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(gate.filter)
    var configuration = ServerConfiguration()
    configuration.computeThreads = 1
    try await withServer(
      configuration, catalogue: catalogue, clock: clock.sessionClock
    ) { _, address in
      // For the test's end after a failure.
      defer { gate.open(for: 1) }
      async let stuck = withStub(address) { stub in
        try await stub.converseInTurn(
          .open([.filter("gate")]),
          [
            .frame(1, Self.image), .select([.filter("colorInvert")], .fade(.milliseconds(400))),
            .frame(2, Self.image) { $0.captureTimeNs = TransitionClient.captureTime(0) },
            .frame(3, Self.image) { $0.captureTimeNs = TransitionClient.captureTime(1) },
          ])
      }
      // The third frame is the first whose later pipeline doesn't have a custom filter.
      gate.open(for: 2)
      var entered = gate.entered.makeAsyncIterator()
      for _ in 1 ... 3 { await entered.next() }
      let others = try await clock.ticking(by: FrameScheduler.unknownTurnLimit) {
        try await withStub(address) { stub in
          try await stub.converse([.open([.filter("sepiaTone")]), .frame(1, Self.image)])
        }
      }
      #expect(others.frames.map(\.disposition) == [.filtered])
      gate.open(for: 1)
      let answers = try await stuck
      #expect(answers.frames.map(\.sequence) == [1, 2, 3])
      #expect(answers.frames.allSatisfy { $0.disposition == .filtered })
      #expect(answers.ended.isEmpty)
    }
  }

  /// Runs `body` with a scheduler of two threads whose work is held, its pool and its clock.
  static func withHeldWork(
    turns: Int, _ body: (FrameScheduler, ComputePool, ManualClock) async throws -> Void
  ) async throws {
    let clock = ManualClock()
    let compute = ComputePool(threadCount: 2)
    let scheduler = FrameScheduler(compute: compute, clock: clock.sessionClock)
    let (ends, end) = AsyncStream<Never>.makeStream()
    let (begins, begin) = AsyncStream<Void>.makeStream()
    try await withThrowingTaskGroup(of: Void.self) { group in
      var started = begins.makeAsyncIterator()
      for session in 0 ..< turns {
        group.addTask {
          try await scheduler.withTurn(
            session: UInt64(session), deadline: .zero, limit: .milliseconds(20)
          ) { _, _ in
            begin.yield()
            for await _ in ends {}
          }
        }
        await started.next()
        await clock.awaited(within: .milliseconds(20))
        clock.advance(by: .milliseconds(20))
        // The first session had both threads while it was alone; from then on it shares them.
        try await scheduler.withTurn(session: .max, deadline: .zero) { _, _ in }
        try await expectEventually("others stand in") {
          compute.currentThreadCount == 2 + 2 + session
        }
      }
      try await body(scheduler, compute, clock)
      end.finish()
      while try await group.next() != nil {}
    }
    try await expectEventually("the replacement threads have ended") {
      compute.currentThreadCount == 2
    }
    compute.shutdown()
  }

  @Test func `blocked threads are replaced until their work returns`() async throws {
    try await Self.withHeldWork(turns: 5) { scheduler, compute, _ in
      #expect(compute.currentThreadCount == 2 + 6)
      #expect(scheduler.overdueThreadCount == 6)
    }
  }

  @Test func `when too many threads are blocked, only custom filters are refused`() async throws {
    try await Self.withHeldWork(turns: FrameScheduler.maxOverdueThreads - 1) { scheduler, _, _ in
      await #expect(throws: GoogleRPCStatus.self) {
        try await scheduler.withTurn(session: 1000, deadline: .zero, limit: .seconds(1)) { _, _ in }
      }
      try await scheduler.withTurn(session: 1000, deadline: .zero) { _, _ in }
    }
  }

  @Test
  func
    `custom filters that waited for a turn are refused if too many threads are blocked meanwhile`()
    async throws
  {
    try await Self.withHeldWork(turns: FrameScheduler.maxOverdueThreads - 2) {
      scheduler, _, clock in
      #expect(scheduler.overdueThreadCount == FrameScheduler.maxOverdueThreads - 1)
      try await withThrowingTaskGroup(of: Void.self) { group in
        let (ends, end) = AsyncStream<Never>.makeStream()
        let (begins, begin) = AsyncStream<Void>.makeStream()
        // All turns are taken: one for a time, the others for as long as it takes.
        for limit in [Duration.milliseconds(20), nil] {
          group.addTask {
            try await scheduler.withTurn(session: 1000, deadline: .zero, limit: limit) { _, _ in
              begin.yield()
              for await _ in ends {}
            }
          }
        }
        var started = begins.makeAsyncIterator()
        for _ in 1 ... 2 { await started.next() }
        group.addTask {
          await #expect(throws: GoogleRPCStatus.self) {
            try await scheduler.withTurn(
              session: 1001, deadline: .zero, limit: .seconds(1)
            ) { _, _ in }
          }
          end.finish()
        }
        try await expectEventually("it waits") { scheduler.waitingCount == 1 }
        await clock.awaited(within: .milliseconds(20))
        clock.advance(by: .milliseconds(20))
        while try await group.next() != nil {}
      }
    }
  }
}
