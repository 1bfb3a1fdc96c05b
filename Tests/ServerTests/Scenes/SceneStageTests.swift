import GRPCCore
import SidelightKernels
import SidelightScene
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Stages that depend on the content of frames, with a filter that numbers its frames.
@Suite(.timeLimit(.minutes(5))) struct `Scene stages` {
  static let image = Sidelight_V1_Image.noise(.gray8, 32, 24)

  static func frames(_ count: UInt64) -> [Sidelight_V1_ClientMessage] {
    (1 ... count).map { .frame($0, Self.image) }
  }

  static func converse(
    _ pipeline: Pipeline, _ messages: [Sidelight_V1_ClientMessage], job: SceneJob? = nil,
    _ configure: @escaping @Sendable (inout Sidelight_V1_Open) -> Void = { _ in }
  ) async throws -> [Sidelight_V1_ServerMessage] {
    try await withServer(catalogue: MarkFilter.catalogue(job: job)) { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(.open(pipeline, configure), messages)
      }
    }
  }

  static func levels(_ answers: [Sidelight_V1_ServerMessage]) -> [UInt8?] {
    answers.frames.map { frame in
      let bytes = [UInt8](frame.image.inline)
      return Set(bytes).count == 1 ? bytes[0] : nil
    }
  }

  @Test func `a stage is stepped once for each frame, in order, and its pass draws the result`()
    async throws
  {
    let answers = try await Self.converse([.filter("mark")], Self.frames(5))
    #expect(Self.levels(answers) == [1, 2, 3, 4, 5])
    #expect(answers.frames.allSatisfy { $0.disposition == .filtered })
  }

  @Test func `reports of a stage arrive as results of an analysis`() async throws {
    let answers = try await Self.converse([.filter("mark")], Self.frames(2))
    let last = try #require(answers.analyses.last)
    #expect(last.filter == "mark" && last.stage == "stages[0]")
    #expect(last.figures["count"] == 2)
  }

  @Test func `a stage continues when its parameters or other stages change`() async throws {
    let answers = try await Self.converse(
      [.filter("mark")],
      [
        .frame(1, Self.image), .frame(2, Self.image),
        .select([.filter("colorInvert"), .filter("mark", ["failsAt": .number(900)])]),
        .frame(3, Self.image), .select([.filter("colorInvert")]), .frame(4, Self.image),
        .select([.filter("mark")]), .frame(5, Self.image),
      ])
    let levels = Self.levels(answers)
    #expect(levels[0 ... 2] == [1, 2, 3])
    // Without a scene stage the state is not stepped, and not lost.
    #expect(levels.last == 4)
  }

  @Test func `frames do not wait for a job, and its result applies to a later step`() async throws {
    let gate = Gate()
    let job = SceneJob("test") {
      gate.hold()
      return true
    }
    let levels = try await withServer(catalogue: MarkFilter.catalogue(job: job)) { _, address in
      try await withStub(address) { stub in
        let (turns, turn) = AsyncStream<UInt8>.makeStream()
        return try await stub.process { writer in
          try await writer.write(.open([.filter("mark")]))
          var outcomes = turns.makeAsyncIterator()
          for sequence in 1 ... 3 as ClosedRange<UInt64> {
            try await writer.write(.frame(sequence, Self.image))
            _ = await outcomes.next()
          }
          // Three frames came back while the job was held.
          var entered = gate.entered.makeAsyncIterator()
          await entered.next()
          gate.open(for: 1)
          // The result applies to the first step after the job has returned.
          var sequence: UInt64 = 4
          repeat {
            try await writer.write(.frame(sequence, Self.image))
            sequence += 1
          } while await outcomes.next() ?? 255 < 100
        } onResponse: { response in
          var answers: [Sidelight_V1_ServerMessage] = []
          for try await message in response.messages {
            answers.append(message)
            if case .frame(let frame)? = message.kind { turn.yield([UInt8](frame.image.inline)[0]) }
          }
          return Self.levels(answers)
        }
      }
    }
    #expect(levels.prefix(3) == [1, 2, 3])
    let last = try #require(levels.last)
    #expect(last == UInt8(levels.count % 100 + 100))
  }

  @Test func `jobs of several sessions leave a thread to frames`() async throws {
    let gate = Gate()
    let job = SceneJob("test") {
      gate.hold()
      return true
    }
    var configuration = ServerConfiguration()
    configuration.computeThreads = 2
    let catalogue = MarkFilter.catalogue(job: job)
    try await withServer(configuration, catalogue: catalogue) { _, address in
      defer { gate.open(for: 3) }
      try await withStub(address) { stub in
        var entered = gate.entered.makeAsyncIterator()
        for session in 1 ... 3 {
          let answers = try await stub.converseInTurn(.open([.filter("mark")]), Self.frames(3))
          #expect(Self.levels(answers) == [1, 2, 3])
          if session == 1 { await entered.next() }
        }
        // The jobs of the second and the third session waited for the first.
        #expect(gate.entryCount == 1)
      }
    }
  }

  @Test(arguments: [false, true])
  func `a step that throws fails the stage, and a protecting stage is blurred`(_ protects: Bool)
    async throws
  {
    let answers = try await Self.converse(
      [.filter("mark", ["protects": .flag(protects), "failsAt": .number(2)])], Self.frames(3)
    ) { $0.failurePolicy = .passThrough }
    let failed = try #require(answers.frames.dropFirst().first)
    #expect(failed.disposition == (protects ? .degraded : .passedThrough))
    #expect((failed.image.inline == Self.image.inline) == !protects)
    #expect(failed.failure.message.contains("mark failed"))
    #expect(Self.levels(answers)[2] == 3)
  }

  @Test(arguments: [false, true])
  func `a pause that passes frames does not pass those of a protecting pipeline`(
    _ protects: Bool
  ) async throws {
    let pause = Sidelight_V1_ClientMessage.with { $0.pause.passThrough = true }
    let answers = try await Self.converse(
      [.filter("mark", ["protects": .flag(protects)])],
      [.frame(1, Self.image), pause, .frame(2, Self.image)])
    let second = try #require(answers.frames.last)
    #expect((second.image.inline == Self.image.inline) == !protects)
  }

  @Test func `still images are stepped until the scene is settled`() async throws {
    let image = try await withServer(catalogue: MarkFilter.catalogue()) { _, address in
      try await withStub(address) { stub in
        try await stub.apply(
          .with {
            $0.pipeline = Sidelight_V1_Pipeline([.filter("mark")])
            $0.image = Self.image
          }
        ).image
      }
    }
    #expect(Set(image.inline) == [8])
  }

  @Test func `a check lists the step before the passes`() async throws {
    let passes = try await withServer(catalogue: MarkFilter.catalogue()) { _, address in
      try await withStub(address) { stub in
        try await stub.checkPipeline(
          .with {
            $0.pipeline = Sidelight_V1_Pipeline([.filter("gaussianBlur"), .filter("mark")])
          }
        ).passes
      }
    }
    #expect(passes.map(\.name) == ["markStep", "gaussianBlur", "mark"])
  }
}
