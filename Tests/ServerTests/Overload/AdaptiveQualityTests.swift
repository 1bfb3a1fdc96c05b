import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Sessions that may be given a cheaper picture before they lose frames. The clock ticks whenever
/// it is read: every frame takes some milliseconds, on any machine.
@Suite(.timeLimit(.minutes(5))) struct AdaptiveQualityTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 64, 48)

  /// Sends frames whose budget is too short, for some seconds; then one with enough.
  static func converse(
    _ pipeline: Pipeline, allowsDegraded: Bool
  ) async throws -> [Sidelight_V1_ServerMessage] {
    let clock = ManualClock()
    var ticking = clock.sessionClock
    ticking.now = {
      clock.advance(by: .milliseconds(1))
      return clock.now
    }
    return try await withServer(clock: ticking) { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open(pipeline, policy: .keepOldest) { $0.allowDegraded = allowsDegraded },
          (1 ... 400).map { sequence in
            .frame(sequence, Self.image) { $0.budgetUs = sequence < 400 ? 1 : 0 }
          })
      }
    }
  }

  @Test
  func `a blur is computed at half the resolution before frames are dropped, and reports it`()
    async throws
  {
    let answers = try await Self.converse([.filter("gaussianBlur")], allowsDegraded: true)
    #expect(answers.frames.last?.sequence == 400)
    #expect(answers.frames.last?.disposition == .degraded)
    #expect(answers.frames.last?.image.width == 64)
    #expect(answers.finalStats?.degraded == 1)
  }

  @Test
  func
    `without permission the full variant runs, and a stage without a cheaper variant is unchanged`()
    async throws
  {
    let forbidden = try await Self.converse([.filter("gaussianBlur")], allowsDegraded: false)
    #expect(forbidden.frames.last?.disposition == .filtered)
    let none = try await Self.converse([.filter("sepiaTone")], allowsDegraded: true)
    #expect(none.frames.last?.disposition == .filtered)
  }

  @Test
  func `the sender is notified of the bottleneck, and of the rate and size that are possible`()
    async throws
  {
    let answers = try await Self.converse([.filter("gaussianBlur")], allowsDegraded: false)
    let advice = answers.compactMap { message in
      if case .advice(let advice)? = message.kind { advice } else { nil }
    }
    let first = try #require(advice.first)
    #expect(first.bottleneck == "queue", "no frame has been filtered yet")
    #expect((0 ... 1).contains(first.suggestedScale))
    #expect(first.suggestedFps < 30)
  }

  @Test(
    arguments: [
      [Stage.filter("slow"), .filter("gaussianBlur")],
      [Stage.filter("gaussianBlur"), .filter("slow")],
      [Stage.filter("pixellate"), .filter("slow"), .filter("sepiaTone")],
    ])
  func `the bottleneck is the slowest stage, at any position`(_ stages: [Stage]) async throws {
    let clock = ManualClock()
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(
      CustomFilter(
        "slow", "Takes time.",
        frame: { input, output, _ in
          clock.advance(by: .milliseconds(10))
          copy(input, into: &output)
        }))
    let answers = try await withServer(
      catalogue: catalogue, clock: clock.sessionClock
    ) { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open(Pipeline(stages: stages), policy: .keepOldest),
          // The first is filtered, which shows the slowest pass; the others are late.
          (1 ... 30).map { sequence in
            .frame(sequence, Self.image) { $0.budgetUs = sequence == 1 ? 0 : 1 }
          }
        ) { _ in clock.advance(by: .milliseconds(100)) }
      }
    }
    let advice = answers.compactMap { message in
      if case .advice(let advice)? = message.kind { advice.bottleneck } else { nil }
    }
    #expect(!advice.isEmpty)
    #expect(Set(advice) == ["slow"])
  }
}
