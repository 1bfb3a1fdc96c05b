import GRPCCore
import GRPCProtobuf
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightText
import SidelightWire
import SwiftProtobuf
import Synchronization
import Testing

/// Tests of the outcomes of frames whose stage fails, or does not return.
@Suite(.timeLimit(.minutes(5))) struct FailurePolicyTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 64, 48)

  struct Broken: Error {}

  struct LongError: Error, CustomStringConvertible {
    let description = String(repeating: "x", count: 100_000)
  }

  /// `broken` throws; `verbose` throws an error with a long description.
  static var catalogue: FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(CustomFilter("broken", "Throws.", frame: { _, _, _ in throw Broken() }))
    catalogue.register(CustomFilter("verbose", "Throws.", frame: { _, _, _ in throw LongError() }))
    return catalogue
  }

  static func converse(
    _ pipeline: Pipeline, _ configure: (inout Sidelight_V1_Open) -> Void = { _ in }
  ) async throws -> [Sidelight_V1_ServerMessage] {
    var open = Sidelight_V1_ClientMessage.open(pipeline)
    configure(&open.open)
    return try await withServer(catalogue: Self.catalogue) { [open] _, address in
      try await withStub(address) { stub in
        try await stub.converse([open, .frame(1, Self.image)])
      }
    }
  }

  /// The mean difference of neighbouring samples: high for noise, low for a blur.
  static func roughness(_ image: Sidelight_V1_Image) -> Double {
    let bytes = [UInt8](image.inline)
    let steps = stride(from: 0, to: bytes.count - 4, by: 4).map {
      abs(Int(bytes[$0]) - Int(bytes[$0 + 4]))
    }
    return Double(steps.reduce(0, +)) / Double(steps.count)
  }

  @Test
  func `the policy blur returns an unrecognizable picture, marked as degraded`() async throws {
    let answers = try await Self.converse([.filter("broken")]) { $0.failurePolicy = .blur }
    let frame = try #require(answers.frames.first)
    #expect(frame.disposition == .degraded)
    #expect(frame.failure.message.contains("broken failed"))
    #expect(Self.roughness(Self.image) > 50)
    #expect(Self.roughness(frame.image) < 3)
    #expect(answers.finalStats?.degraded == 1)
  }

  @Test(
    arguments: [
      (FailurePolicy.drop, Sidelight_V1_FailurePolicy.passThrough),
      (.passThrough, .drop), (.blur, .drop),
    ])
  func `a stage's policy overrides the session's`(
    stage: FailurePolicy, session: Sidelight_V1_FailurePolicy
  ) async throws {
    let answers = try await Self.converse([
      .filter("sepiaTone"), Stage(.filter(FilterCall(name: "broken")), failurePolicy: stage),
    ]) { $0.failurePolicy = session }
    switch stage {
    case .passThrough: #expect(answers.frames.first?.disposition == .passedThrough)
    case .drop: #expect(answers.drops.first?.reason == .stageFailed)
    case .blur: #expect(answers.frames.first?.disposition == .degraded)
    }
  }

  @Test func `the policy of a stage does not apply to other stages`() async throws {
    let answers = try await Self.converse([
      Stage(.filter(FilterCall(name: "sepiaTone")), failurePolicy: .drop), .filter("broken"),
    ])
    #expect(answers.frames.first?.disposition == .passedThrough)
  }

  @Test(
    arguments: [Sidelight_V1_FailurePolicy.passThrough, .drop, .blur])
  func `the error of a custom filter is clipped before the client receives it`(
    policy: Sidelight_V1_FailurePolicy
  ) async throws {
    let answers = try await Self.converse([.filter("verbose")]) { $0.failurePolicy = policy }
    let message =
      answers.frames.first?.failure.message ?? answers.drops.first?.diagnostic.message ?? ""
    let prefix = "verbose failed: "
    #expect(message.hasPrefix(prefix + "xxx"))
    #expect(message.hasSuffix("xxx..."))
    #expect(message.utf8.count == prefix.utf8.count + ContractLimits.maxFilterErrorBytes)
  }

  /// Pipelines whose stage `broken` has an id or is nested, with the stage's name in errors.
  static let failingPipelines: [(Pipeline, stage: String)] = [
    ([.filter("sepiaTone"), Stage(.filter(FilterCall(name: "broken")), id: "custom")], "custom"),
    (
      [.filter("sepiaTone"), Stage(.pipeline([.filter("colorInvert"), .filter("broken")]))],
      "stages[1].pipeline.stages[1]"
    ),
  ]

  @Test(arguments: failingPipelines)
  func `the failure of a frame names the filter and its stage`(_ pipeline: Pipeline, stage: String)
    async throws
  {
    let answers = try await Self.converse(pipeline)
    let failure = try #require(answers.frames.first?.failure)
    let status = try GoogleRPCStatus(serializedBytes: try failure.serializedBytes() as [UInt8])
    #expect(status.code == .internalError)
    let info = try #require(status.details.compactMap(\.errorInfo).first)
    #expect(info.reason == "STAGE_FAILED")
    #expect(info.metadata == ["filters": "broken", "stages": stage])
  }

  /// A renderer of texts that rejects all texts as too large.
  struct StrictRenderer: TextRenderer {
    func unavailability(of font: BundledFont) -> String? { nil }

    func render(_ text: TextRequest) throws(TextError) -> TextCaption? {
      throw TextError("the text is too large; shorten it", limit: 7)
    }
  }

  @Test func `a text beyond a limit is an invalid argument, with the limit`() async throws {
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerText(StrictRenderer())
    let pipeline: Pipeline = [.filter("text", ["text": .text("long")])]
    @Sendable func check(_ status: GoogleRPCStatus?) throws {
      #expect(status?.code == .invalidArgument)
      #expect(status?.message == "text failed: the text is too large; shorten it")
      let info = try #require(status?.details.compactMap(\.errorInfo).first)
      #expect(info.reason == "OUT_OF_RANGE")
      #expect(info.metadata == ["filters": "text", "stages": "stages[0]", "limit": "7"])
    }
    try await withServer(catalogue: catalogue) { _, address in
      try await withStub(address) { stub in
        let answers = try await stub.converse([.open(pipeline), .frame(1, Self.image)])
        let failure = try #require(answers.frames.first?.failure)
        try check(GoogleRPCStatus(serializedBytes: try failure.serializedBytes() as [UInt8]))
        let error = await #expect(throws: RPCError.self) {
          _ = try await stub.apply(
            .with {
              $0.image = Self.image
              $0.pipeline = Sidelight_V1_Pipeline(pipeline)
            })
        }
        try check(try error?.unpackGoogleRPCStatus())
      }
    }
  }

  @Test(arguments: failingPipelines)
  func `apply ends with the filter and the stage that failed`(_ pipeline: Pipeline, stage: String)
    async throws
  {
    try await withServer(catalogue: Self.catalogue) { _, address in
      try await withStub(address) { stub in
        let error = try #require(
          await #expect(throws: RPCError.self) {
            _ = try await stub.apply(
              .with {
                $0.image = Self.image
                $0.pipeline = Sidelight_V1_Pipeline(pipeline)
              })
          })
        #expect(error.code == .internalError)
        #expect(error.message.hasPrefix("broken failed: "))
        let info = try #require(
          try error.unpackGoogleRPCStatus()?.details.compactMap(\.errorInfo).first)
        #expect(info.reason == "STAGE_FAILED")
        #expect(info.metadata == ["filters": "broken", "stages": stage])
      }
    }
  }

  @Test func `the policy of a nested pipeline applies to its stages`() async throws {
    let answers = try await Self.converse([
      Stage(.pipeline([.filter("broken")]), failurePolicy: .drop)
    ])
    #expect(answers.drops.first?.reason == .stageFailed)
  }

  @Test
  func `a filter that does not return affects only its own session, whose frames get the policy`()
    async throws
  {
    let clock = ManualClock()
    let gate = Gate()
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(gate.filter)
    try await withServer(catalogue: catalogue, clock: clock.sessionClock) { _, address in
      try await withStub(address) { stub in
        let (turns, turn) = AsyncStream<Void>.makeStream()
        try await stub.process { writer in
          var iterator = turns.makeAsyncIterator()
          try await writer.write(.open([.filter("gate")], policy: .newestWins))
          try await writer.write(.frame(1, Self.image))
          for await _ in gate.entered { break }
          // Ten times the budget of a session without one: the configuration's two seconds.
          async let _ = clock.tick(by: .seconds(3))
          await iterator.next()
          for sequence: UInt64 in 2 ... 4 {
            try await writer.write(.frame(sequence, Self.image))
            await iterator.next()
          }
          // Other sessions are unaffected.
          let others = try await stub.converse([
            .open([.filter("colorInvert")]), .frame(1, Self.image),
          ])
          #expect(others.frames.map(\.disposition) == [.filtered])
          // It comes back, and sticks again with a later frame: which is looked after as the first
          // was.
          gate.open(for: 1)
          var sequence: UInt64 = 4
          while gate.entryCount < 2 {
            sequence += 1
            try await writer.write(.frame(sequence, Self.image))
            await iterator.next()
          }
          gate.open(for: 10)
        } onResponse: { response in
          var answers: [Sidelight_V1_ServerMessage] = []
          for try await message in response.messages {
            answers.append(message)
            if case .frame? = message.kind { turn.yield() }
          }
          #expect(answers.frames.prefix(4).map(\.sequence) == [1, 2, 3, 4])
          #expect(answers.frames.count > 4)
          for frame in answers.frames {
            #expect(frame.disposition == .passedThrough)
            #expect(frame.image == Self.image)
            #expect(frame.failure.message.contains("custom filter"))
          }
          #expect(answers.finalStats?.outcomes == UInt64(answers.frames.count))
        }
      }
    }
  }
}
