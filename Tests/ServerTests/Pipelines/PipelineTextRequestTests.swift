import GRPCCore
import GRPCNIOTransportHTTP2Posix
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Synchronization
import Testing

/// Tests of pipelines as text, in every request that takes one. ``PipelineErrorTests`` tests their
/// errors.
@Suite(.timeLimit(.minutes(5))) struct PipelineTextRequestTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 16, 12)
  static let text = "warm: sepiaTone(intensity: 0.5), [colorInvert @mix(0.75)]"

  static func open(text: String) -> Sidelight_V1_ClientMessage {
    .with {
      $0.open.pipelineText = text
      $0.open.dropPolicy = .neverDrop
    }
  }

  static func select(text: String, requestID: UInt64 = 0) -> Sidelight_V1_ClientMessage {
    .with {
      $0.select.pipelineText = text
      $0.select.requestID = requestID
    }
  }

  // MARK: The look

  @Test func `a text and its message filter alike when a session opens and when it selects`()
    async throws
  {
    let pipeline = try Pipeline(text: Self.text)
    try await withServer { _, address in
      try await withStub(address) { stub in
        let message = try await stub.converse([.open(pipeline), .frame(1, Self.image)])
        let expected = try #require(message.frames.first).image
        #expect(expected != Self.image)
        let opened = try await stub.converse([Self.open(text: Self.text), .frame(1, Self.image)])
        #expect(opened.frames.map(\.image) == [expected])
        let selected = try await stub.converse([
          .open(), .frame(1, Self.image), Self.select(text: Self.text, requestID: 5),
          .frame(2, Self.image),
        ])
        #expect(selected.frames.map(\.image) == [Self.image, expected])
        #expect(selected.applied.map(\.requestID) == [0, 5])
        let applied = try await stub.apply(
          .with {
            $0.image = Self.image
            $0.pipelineText = Self.text
          })
        #expect(applied.image == expected)
        #expect(applied.disposition == .filtered)
      }
    }
  }

  @Test func `an operator forces a text`() async throws {
    try await OverrideTests.withSession(.open([.filter("sepiaTone")])) { session in
      let response = try await session.operators.overrideSession(
        .with {
          $0.sessionID = session.id
          $0.pipelineText = "gaussianBlur(radius: 2), colorInvert"
          $0.timeToLive.seconds = 10
        })
      #expect(response.revision == 2)
      let during = try await session.send(.frame(1, OverrideTests.image))
      #expect(during.frames.map(\.revision) == [2])
      let listed = try await session.operators.listSessions(.init()).sessions.first
      #expect(listed?.pipeline == "gaussianBlur(radius: 2), colorInvert")
      #expect(listed?.state == .overridden)
      // An empty text is a pipeline; a request without one ends the override.
      _ = try await session.operators.overrideSession(
        .with {
          $0.sessionID = session.id
          $0.pipelineText = ""
          $0.timeToLive.seconds = 10
        })
      #expect(
        try await session.operators.listSessions(.init()).sessions.first?.state == .overridden)
      _ = try await session.operators.overrideSession(.with { $0.sessionID = session.id })
      #expect(try await session.operators.listSessions(.init()).sessions.first?.state == .running)
    }
  }

  @Test func `the stages of a text are updated and activated by their ids`() async throws {
    let answers = try await ControlTests.converse([
      Self.open(text: Self.text),
      .with {
        $0.update.stages = [
          .with {
            $0.stage = "warm"
            $0.parameters = ["intensity": .with { $0.number = 1 }]
          }
        ]
      },
      .with { $0.activate.stages = ["stages[1].pipeline.stages[0]": false] },
      .frame(1, ControlTests.image),
    ])
    #expect(answers.errors.isEmpty)
    #expect(answers.accepted.map(\.revision) == [2, 3])
    #expect(
      answers.frames.first?.image == (try await ControlTests.pixels([.filter("sepiaTone")])))
  }

  @Test func `a session that selected a text is resumed with it`() async throws {
    let keys = [ResumeTests.key("a", 1)]
    let first = try await ResumeTests.converse(
      keys: keys,
      [.open(), Self.select(text: Self.text), .frame(1, ResumeTests.image)])
    let token = try #require(first.applied.last?.resumeToken)
    let second = try await ResumeTests.converse(
      keys: keys,
      [
        .with {
          $0.open.resumeToken = token
          $0.open.dropPolicy = .neverDrop
          // The token takes precedence, but the text must be valid.
          $0.open.pipelineText = "grayscale"
        },
        .frame(1, ResumeTests.image),
        .with { $0.activate.stages = ["warm": false] },
        .frame(2, ResumeTests.image),
      ])
    #expect(second.errors.isEmpty)
    #expect(second.frames.first?.image == first.frames.first?.image)
    #expect(second.frames.map(\.revision) == [2, 3])
  }

  @Test func `a text of the maximum length is accepted`() async throws {
    let longest =
      Self.text
      + String(repeating: " ", count: ContractLimits.maxPipelineTextBytes - Self.text.utf8.count)
    let answers = try await ControlTests.converse([
      Self.open(text: longest), Self.select(text: longest), .frame(1, Self.image),
    ])
    #expect(answers.errors.isEmpty)
    #expect(answers.frames.map(\.disposition) == [.filtered])
  }

  // MARK: Cost

  @Test func `the stages of a text count as control messages`() async throws {
    let clock = ManualClock()
    let text = Array(repeating: "bloom", count: 64).joined(separator: ",")
    // A message costs 65 units; the last one that is handled may exceed the budget.
    let atOnce = ContractLimits.controlUnitsPerSecond / 65 + 1
    let accepted = Atomic(0)
    try await withServer(clock: clock.sessionClock) { _, address in
      try await withStub(address) { stub in
        try await stub.process { writer in
          try await writer.write(.open())
          for id in 1 ... UInt64(atOnce + 10) {
            try await writer.write(Self.select(text: text, requestID: id))
          }
          await clock.awaited(within: .seconds(1))
          #expect(accepted.load(ordering: .relaxed) <= atOnce)
          await clock.ticking(by: .seconds(1)) {
            try? await expectEventually("all are accepted") {
              accepted.load(ordering: .relaxed) == atOnce + 10
            }
          }
        } onResponse: { response in
          for try await message in response.messages {
            if case .accepted? = message.kind { accepted.add(1, ordering: .relaxed) }
          }
        }
      }
    }
  }
}
