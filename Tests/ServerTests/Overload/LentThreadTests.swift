import Foundation
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightText
import SidelightWire
import Testing

/// Short frames that would have to wait for long work that cannot pause.
@Suite(.timeLimit(.minutes(5))) struct LentThreadTests {
  typealias Machine = FrameScheduler.StateMachine

  /// A machine of two threads, which sessions 1 and 2 hold since the beginning.
  static func held() -> Machine {
    var machine = Machine(threads: 2)
    for session: UInt64 in [1, 2] {
      _ = machine.request(session: session, deadline: .zero, at: .zero)
    }
    return machine
  }

  @Test func `a short frame waits for a few milliseconds, then gets an additional thread`() {
    var machine = Self.held()
    _ = machine.request(
      session: 3, deadline: .zero, cost: .milliseconds(1), at: .milliseconds(10))
    #expect(machine.timeToLend(at: .milliseconds(10)) == .milliseconds(4))
    let early = machine.lend(at: .milliseconds(13))
    #expect(early == nil)
    let granted = machine.lend(at: .milliseconds(14))
    #expect(granted == .init(ticket: 0, bands: 1, isAdditional: true))
    // The thread is not for turns that wait for their own.
    _ = machine.request(session: 4, deadline: .zero, at: .milliseconds(14))
    let next = machine.finish(
      session: 3, work: .milliseconds(1), isAdditional: true, at: .milliseconds(15))
    #expect(next == nil)
    let own = machine.finish(session: 1, work: .milliseconds(16), at: .milliseconds(16))
    #expect(own == .init(ticket: 1, bands: 1))
  }

  @Test(arguments: [(5, true), (6, false), (nil, false)] as [(Int?, Bool)])
  func `only frames of a quarter of the long turn's time at most get one`(
    cost: Int?, isGranted: Bool
  ) {
    var machine = Self.held()
    _ = machine.request(
      session: 3, deadline: .zero, cost: cost.map { .milliseconds($0) }, at: .zero)
    let granted = machine.lend(at: .milliseconds(20))
    #expect((granted != nil) == isGranted)
  }

  @Test func `a session that has had more service than those of the long turns waits`() {
    var machine = Self.held()
    _ = machine.request(session: 3, deadline: .zero, cost: .milliseconds(1), at: .zero)
    machine.charge(session: 3, work: .milliseconds(21))
    let early = machine.lend(at: .milliseconds(20))
    #expect(early == nil)
    let granted = machine.lend(at: .milliseconds(21))
    #expect(granted?.ticket == 0)
  }

  @Test func `the time to the grant follows the frame's cost, and the turns that hold the threads`()
  {
    var machine = Self.held()
    #expect(machine.timeToLend(at: .zero) == nil)
    _ = machine.request(session: 3, deadline: .zero, at: .zero)
    #expect(machine.timeToLend(at: .zero) == nil, "its cost is not known")
    _ = machine.request(session: 4, deadline: .zero, cost: .milliseconds(5), at: .zero)
    #expect(machine.timeToLend(at: .milliseconds(1)) == .milliseconds(19))
    #expect(machine.timeToLend(at: .milliseconds(100)) == .milliseconds(4))
  }

  @Test func `there are no more additional threads than threads`() {
    var machine = Self.held()
    for session: UInt64 in 3 ... 5 {
      _ = machine.request(
        session: session, deadline: .milliseconds(Int(10 - session)), cost: .milliseconds(1),
        at: .zero)
    }
    var tickets: [UInt64] = []
    while let granted = machine.lend(at: .milliseconds(20)) { tickets.append(granted.ticket) }
    #expect(tickets == [2, 1], "the earliest deadlines")
    let next = machine.finish(
      session: 5, work: .milliseconds(1), isAdditional: true, at: .milliseconds(21))
    #expect(next == .init(ticket: 0, bands: 1, isAdditional: true))
  }

  @Test func `a session that needs less than its share continues from the one with the least`() {
    var machine = Machine(threads: 2)
    _ = machine.request(session: 2, deadline: .zero, at: .zero)
    _ = machine.request(session: 1, deadline: .zero, at: .zero)
    _ = machine.finish(session: 1, work: .milliseconds(100), at: .milliseconds(100))
    _ = machine.request(session: 1, deadline: .zero, at: .milliseconds(100))
    // Session 1 has had 100 ms when its turn began, and session 2 is ahead of it by that.
    _ = machine.request(
      session: 3, deadline: .seconds(9), cost: .milliseconds(1), at: .milliseconds(100))
    _ = machine.request(session: 4, deadline: .seconds(8), at: .milliseconds(100))
    machine.charge(session: 4, work: .milliseconds(1))
    let next = machine.finish(session: 1, work: .zero, at: .milliseconds(100))
    #expect(next?.ticket == 0)
  }

  #if os(Linux)
    /// The name of the calling thread.
    static func threadName() throws -> String {
      try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        .trimmingCharacters(in: .newlines)
    }

    @Test func `turns run on compute threads, also those that are lent`() async throws {
      let clock = ManualClock()
      let compute = ComputePool(threadCount: 1)
      defer { compute.shutdown() }
      let scheduler = FrameScheduler(compute: compute, clock: clock.sessionClock)
      let gate = Gate()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await scheduler.lendThreads() }
        group.addTask {
          try await scheduler.withTurn(session: 1, deadline: .zero) { _, _ in gate.hold() }
        }
        for await _ in gate.entered { break }
        try await clock.ticking(by: FrameScheduler.StateMachine.patience) {
          let name = try await scheduler.withTurn(
            session: 2, deadline: .zero, cost: .milliseconds(1)
          ) { _, _ in try Self.threadName() }
          #expect(name == "sidelight-pixel")
        }
        gate.open(for: 1)
        try await expectEventually("the additional thread ends") {
          compute.currentThreadCount == 1
        }
        group.cancelAll()
      }
    }
  #endif

  /// A renderer of texts that holds its thread until the test releases it, and returns `nil`.
  struct HeldRenderer: TextRenderer {
    let gate: Gate

    func unavailability(of font: BundledFont) -> String? { nil }

    func render(_ text: TextRequest) throws(TextError) -> TextCaption? {
      self.gate.hold()
      return nil
    }
  }

  @Test func `a session gets every frame while the drawing of texts holds all threads`()
    async throws
  {
    let gate = Gate()
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerText(HeldRenderer(gate: gate))
    var configuration = ServerConfiguration()
    configuration.computeThreads = 2
    let image = Sidelight_V1_Image.noise(.bgra8, 64, 48)
    try await withServer(configuration, catalogue: catalogue) { _, address in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 1 ... 2 {
          group.addTask {
            try await withStub(address) { stub in
              let text: Pipeline = [.filter("text", ["text": .text("text \(number)")])]
              let answers = try await stub.converse([.open(text), .frame(1, image)])
              #expect(answers.frames.count == 1)
            }
          }
        }
        var entered = gate.entered.makeAsyncIterator()
        for _ in 1 ... 2 { await entered.next() }
        let answers = try await withStub(address) { stub in
          try await stub.converseInTurn(
            .open([.filter("sepiaTone")]), (1 ... 20).map { .frame($0, image) })
        }
        #expect(answers.frames.map(\.sequence) == Array(1 ... 20))
        #expect(answers.frames.allSatisfy { $0.disposition == .filtered })
        gate.open(for: 100)
        try await group.waitForAll()
      }
    }
  }
}
