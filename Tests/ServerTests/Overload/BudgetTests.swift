import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Frames with a budget. The filter advances a manual clock.
@Suite(.timeLimit(.minutes(5))) struct BudgetTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 8, 8)

  /// A catalogue whose filter `slow` advances the clock by 30 ms.
  static func catalogue(_ clock: ManualClock) -> FilterCatalogue {
    var catalogue = FilterCatalogue()
    catalogue.register(
      CustomFilter(
        "slow", "Takes its time.",
        frame: { input, output, _ in
          clock.advance(by: .milliseconds(30))
          copy(input, into: &output)
        }))
    return catalogue
  }

  /// Sends the frames sequentially, waiting for an outcome before the next frame.
  static func converse(
    _ pipeline: Pipeline, _ frames: [Sidelight_V1_ClientMessage],
    _ configure: (inout Sidelight_V1_Open) -> Void = { _ in }
  ) async throws -> [Sidelight_V1_ServerMessage] {
    let clock = ManualClock()
    var open = Sidelight_V1_ClientMessage.open(pipeline, policy: .keepOldest)
    configure(&open.open)
    return try await withServer(
      catalogue: Self.catalogue(clock), clock: clock.sessionClock
    ) { [open] _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(open, frames)
      }
    }
  }

  @Test func `a budget that is spent between two passes stops the frame there`() async throws {
    let answers = try await Self.converse(
      [.filter("slow"), .filter("slow")], [.frame(1, Self.image) { $0.budgetUs = 20_000 }])
    let drop = try #require(answers.drops.first)
    #expect(drop.reason == .lateInPipeline)
    #expect(drop.stage == .pipeline)
    #expect(drop.lateUs == 10_000)
  }

  @Test func `a frame whose budget is spent by the last pass is not written`() async throws {
    let answers = try await Self.converse(
      [.filter("slow")], [.frame(1, Self.image)]
    ) { $0.budgetUs = 20_000 }
    let drop = try #require(answers.drops.first)
    #expect(drop.reason == .lateOnOutput)
    #expect(drop.stage == .outbox)
    #expect(drop.lateUs == 10_000)
  }

  @Test
  func `a frame whose expected work exceeds its budget is dropped before it is filtered`()
    async throws
  {
    let answers = try await Self.converse(
      [.filter("slow")],
      [
        .frame(1, Self.image) { $0.budgetUs = 40_000 },
        .frame(2, Self.image) { $0.budgetUs = 20_000 },
        .frame(3, Self.image) { $0.budgetUs = 40_000 },
      ])
    #expect(answers.frames.map(\.sequence) == [1, 3])
    let drop = try #require(answers.drops.first)
    #expect(drop.reason == .lateOnArrival)
    #expect(drop.stage == .arrival)
    #expect(drop.lateUs == 0, "it was not late yet")
  }

  @Test
  func `after refusals a frame is tried again, because the pipeline may have become faster`()
    async throws
  {
    let frames = (1 ... 40).map { sequence in
      Sidelight_V1_ClientMessage.frame(sequence, Self.image) { $0.budgetUs = 20_000 }
    }
    let answers = try await Self.converse([.filter("slow")], frames)
    let reasons = answers.drops.reduce(into: [:]) { $0[$1.reason, default: 0] += $1.count }
    #expect(reasons[.lateOnOutput, default: 0] >= 2, "tried at first, and again")
    #expect(reasons[.lateOnArrival, default: 0] >= 30)
    #expect(answers.finalStats?.outcomes == 40)
  }

  @Test func `one very slow frame does not cause the next ones to be refused`() {
    let estimate = CostEstimate()
    estimate.record(.milliseconds(10))
    estimate.record(.seconds(20))
    #expect(estimate.expected == .milliseconds(13.75))
  }

  @Test func `refusals lower the expected time, but not the work that counts as load`() {
    let estimate = CostEstimate()
    estimate.record(.milliseconds(8), work: .milliseconds(32))
    #expect(estimate.expected == .milliseconds(8))
    #expect(estimate.work == .milliseconds(32))
    estimate.record(.milliseconds(16), work: .milliseconds(16))
    #expect(estimate.expected == .milliseconds(9))
    #expect(estimate.work == .milliseconds(30))
    estimate.record(atLeast: .milliseconds(32))
    #expect(estimate.expected == .milliseconds(32))
    #expect(estimate.work == .milliseconds(32), "it is no less than the time that one thread had")
    estimate.recordRefusal()
    #expect(estimate.expected == .milliseconds(31))
    #expect(estimate.work == .milliseconds(32))
  }

  @Test
  func `a frame's budget overrides the session's; 0 disables it, and so does must_process`()
    async throws
  {
    let answers = try await Self.converse(
      [.filter("slow")],
      [
        .frame(1, Self.image) { $0.budgetUs = 40_000 },
        .frame(2, Self.image) { $0.budgetUs = 0 },
        .frame(3, Self.image) { $0.mustProcess = true },
        .frame(4, Self.image),
      ]
    ) { $0.budgetUs = 1 }
    #expect(answers.frames.map(\.sequence) == [1, 2, 3])
    #expect(answers.drops.map(\.firstSequence) == [4])
    #expect(answers.drops.first?.reason == .lateOnArrival)
  }

  @Test func `a frame that waited too long in the mailbox is not filtered`() async throws {
    let clock = ManualClock()
    let gate = Gate()
    let answers = try await withServer(catalogue: gate.catalogue, clock: clock.sessionClock) {
      _, address in
      try await withStub(address) { stub in
        try await stub.converse { writer, pongs in
          try await writer.write(.open([.filter("gate")], policy: .newestWins))
          try await writer.write(.frame(1, Self.image))
          for await _ in gate.entered { break }
          try await writer.write(.frame(2, Self.image) { $0.budgetUs = 20_000 })
          try await writer.write(.with { $0.ping.id = 1 })
          for await _ in pongs { break }
          clock.advance(by: .milliseconds(50))
          gate.open(for: 2)
        }
      }
    }
    #expect(answers.frames.map(\.sequence) == [1])
    let drop = try #require(answers.drops.first)
    #expect(drop.firstSequence == 2)
    #expect(drop.reason == .lateInPipeline)
    #expect(drop.stage == .mailbox)
    #expect(drop.lateUs == 30_000)
  }

  @Test
  func `a frame rate drops frames evenly; frames with must_process are exempt`() async throws {
    let clock = ManualClock()
    let answers = try await withServer(clock: clock.sessionClock) { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open(policy: .keepOldest) { $0.maxFps = 10 },
          (1 ... 12).map { sequence in
            .frame(sequence, Self.image) { $0.mustProcess = sequence == 6 }
          },
          before: { _ in clock.advance(by: .milliseconds(50)) })
      }
    }
    #expect(answers.frames.map(\.sequence) == [1, 3, 5, 6, 7, 9, 11])
    #expect(answers.drops.allSatisfy { $0.reason == .rateLimited && $0.stage == .arrival })
    #expect(answers.finalStats?.outcomes == 12)
  }

  @Test
  func `with NEVER_DROP the budgets of session and frame have no effect, which opened reports`()
    async throws
  {
    let clock = ManualClock()
    let answers = try await withServer(
      catalogue: Self.catalogue(clock), clock: clock.sessionClock
    ) { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open([.filter("slow"), .filter("slow")], policy: .neverDrop) { $0.budgetUs = 20_000 },
          [.frame(1, Self.image), .frame(2, Self.image) { $0.budgetUs = 1 }])
      }
    }
    #expect(answers.first?.opened.budgetUs == 0)
    #expect(answers.frames.map(\.sequence) == [1, 2])
    #expect(answers.finalStats?.filtered == 2)
  }

  @Test func `with NEVER_DROP a frame rate is refused`() async throws {
    try await withServer { _, address in
      try await withStub(address) { stub in
        let error = await #expect(throws: RPCError.self) {
          try await stub.converse([.open(policy: .neverDrop) { $0.maxFps = 10 }])
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("max_fps") == true)
      }
    }
  }

  @Test func `frames beyond the granted credits are dropped with NO_CREDIT`() async throws {
    let gate = Gate()
    var configuration = ServerConfiguration()
    configuration.framesInFlight = 3
    let answers = try await withServer(configuration, catalogue: gate.catalogue) { _, address in
      try await withStub(address) { stub in
        try await stub.converse { writer, pongs in
          try await writer.write(.open([.filter("gate")], policy: .newestWins))
          try await writer.write(.frame(1, Self.image))
          for await _ in gate.entered { break }
          for sequence: UInt64 in 2 ... 5 { try await writer.write(.frame(sequence, Self.image)) }
          try await writer.write(.with { $0.ping.id = 1 })
          for await _ in pongs { break }
          gate.open(for: 5)
        }
      }
    }
    #expect(answers.frames.map(\.sequence) == [1, 3])
    #expect(answers.drops.map(\.reason) == [.superseded, .noCredit])
    #expect(answers.drops.last?.count == 2)
  }
}
