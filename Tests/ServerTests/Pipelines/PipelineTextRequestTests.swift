import GRPCCore
import GRPCNIOTransportHTTP2Posix
import SidelightKernels
import SidelightServer
import SidelightWire
import SwiftProtobuf
import Synchronization
import Testing

/// Tests of pipelines as text, in every request that takes one.
@Suite(.timeLimit(.minutes(5))) struct PipelineTextRequestTests {
  /// A request with a pipeline.
  enum Place: CaseIterable, Sendable {
    case open
    case select
    case apply
    case override
    case check

    /// The field of the text, in errors.
    var field: String {
      switch self {
      case .open: "open.pipeline_text"
      case .select: "select.pipeline_text"
      case .apply, .override: "pipeline_text"
      case .check: "text"
      }
    }
  }

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

  /// Returns the error of a text.
  static func error(of text: String, in place: Place) async throws -> ErrorParts {
    try await withServer { _, address in
      try await withConnection(address) { client in
        let stub = Stub(wrapping: client)
        switch place {
        case .open:
          return try await ErrorParts.of { try await stub.converse([Self.open(text: text)]) }
        case .select:
          let answers = try await stub.converse([
            .open(), Self.select(text: text, requestID: 3), .frame(1, Self.image),
          ])
          #expect(answers.frames.map(\.revision) == [1])
          #expect(answers.accepted.isEmpty)
          let error = try #require(answers.errors.first)
          #expect(error.requestID == 3)
          return try #require(try ErrorParts(error.status))
        case .apply:
          return try await ErrorParts.of {
            try await stub.apply(
              .with {
                $0.image = Self.image
                $0.pipelineText = text
              })
          }
        case .override:
          return try await Self.error(ofOverrideWith: text, client)
        case .check:
          return try await ErrorParts.of { try await stub.checkPipeline(.with { $0.text = text }) }
        }
      }
    }
  }

  private static func error(
    ofOverrideWith text: String, _ client: GRPCClient<HTTP2ClientTransport.Posix>
  ) async throws -> ErrorParts {
    let operators = Sidelight_V1_Sessions.Client(wrapping: client)
    let (opened, opening) = AsyncStream<String>.makeStream()
    let refusal = Mutex<ErrorParts?>(nil)
    let answers = try await Stub(wrapping: client).process { writer in
      try await writer.write(.open())
      for await id in opened.prefix(1) {
        let parts = try await ErrorParts.of {
          try await operators.overrideSession(
            .with {
              $0.sessionID = id
              $0.pipelineText = text
              $0.timeToLive.seconds = 10
            })
        }
        refusal.withLock { $0 = parts }
      }
    } onResponse: { response in
      var answers: [Sidelight_V1_ServerMessage] = []
      for try await message in response.messages {
        if case .opened(let message)? = message.kind { opening.yield(message.sessionID) }
        answers.append(message)
      }
      return answers
    }
    #expect(answers.states.isEmpty, "no override is in force")
    return try #require(refusal.withLock { $0 })
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

  // MARK: Errors

  static let errors: [(text: String, before: String, reason: String, suggestion: String?)] = [
    ("sepiaTone, gausianBlur", "sepiaTone, ", "UNKNOWN_FILTER", "gaussianBlur"),
    ("sepiaTone(intensty: 1)", "sepiaTone(", "UNKNOWN_PARAMETER", "intensity"),
    ("vignette,\n  sepiaTone(intensity: 99)", "vignette,\n  sepiaTone(intensity: ",
      "OUT_OF_LIMITS", nil),
    ("\"né👩‍👩‍👧\": sepiaTon", "\"né👩‍👩‍👧\": ", "UNKNOWN_FILTER", "sepiaTone"),
    ("sepiaTone;", "sepiaTone", "INVALID_PIPELINE_TEXT", nil),
    ("a: sepiaTone, a: vignette", "a: sepiaTone, ", "DUPLICATE_STAGE_ID", nil),
    ("\"é\": overlay(asset: nothing)", "\"é\": overlay(asset: ", "UNKNOWN_ASSET", nil),
  ]

  @Test(arguments: Place.allCases)
  func `an error has the position of its character and the nearest name`(place: Place)
    async throws
  {
    for (text, before, reason, suggestion) in Self.errors {
      let error = try await Self.error(of: text, in: place)
      let lines = before.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(error.code == .invalidArgument)
      #expect(error.field == place.field)
      #expect(error.metadata["field"] == place.field)
      #expect(error.reason == reason, "\(text)")
      #expect(error.line == lines.count, "\(text)")
      #expect(error.column == (lines.last?.count ?? 0) + 1, "\(text)")
      #expect(error.utf8Offset == before.utf8.count, "\(text)")
      #expect(error.suggestion == suggestion, "\(text)")
    }
  }

  @Test(arguments: Place.allCases)
  func `a text has the limits of the contract`(place: Place) async throws {
    let longest = ContractLimits.maxPipelineTextBytes
    let long = try await Self.error(
      of: "sepiaTone" + String(repeating: " ", count: longest), in: place)
    #expect(long.field == place.field)
    #expect(long.value == "\(longest + 9)")
    #expect(long.limit == "\(longest)")
    #expect(long.utf8Offset == longest)
    let many = try await Self.error(
      of: Array(repeating: "vignette", count: 65).joined(separator: ","), in: place)
    #expect(many.field == place.field)
    #expect(many.limit == "64")
    #expect(many.column == 64 * 9 + 1)
    // Names have limits that only the check of sizes enforces.
    let name = String(repeating: "n", count: 65)
    let named = try await Self.error(of: "sepiaTone, \(name): vignette", in: place)
    #expect(named.reason == "TOO_LARGE")
    #expect(named.value == "65")
    #expect(named.limit == "64")
    #expect(named.column == 12)
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

  @Test func `a text that needs too much memory is refused by its field`() async throws {
    let limit = PlanMemoryTests.configuration.maxPlanBytes
    let (applied, checked) = try await withServer(
      PlanMemoryTests.configuration, catalogue: try PlanMemoryTests.catalogue()
    ) { _, address in
      try await withStub(address) { stub in
        let applied = try await ErrorParts.of {
          try await stub.apply(
            .with {
              $0.image = PlanMemoryTests.image
              $0.pipelineText = PlanMemoryTests.greedy.text
            })
        }
        let checked = try await ErrorParts.of {
          try await stub.checkPipeline(
            .with {
              $0.format = .rgb24
              $0.width = 320
              $0.height = 320
              $0.text = PlanMemoryTests.greedy.text
            })
        }
        return (applied, checked)
      }
    }
    #expect(applied.code == .resourceExhausted && checked.code == .resourceExhausted)
    #expect(applied.field == "pipeline_text")
    #expect(checked.field == "text")
    for error in [applied, checked] {
      #expect(error.limit == "\(limit)")
      #expect(error.value == "\(limit + 1)")
    }
  }

  @Test func `errors of messages have value, limit and suggestion too`() async throws {
    func error(_ messages: [Sidelight_V1_ClientMessage]) async throws -> ErrorParts {
      let answers = try await ControlTests.converse([.open(ControlTests.looks)] + messages)
      let error = try #require(answers.errors.first)
      return try #require(try ErrorParts(error.status))
    }
    let unknown = try await error([.select([.filter("sepiaTon")])])
    #expect(unknown.field == "select.pipeline.stages[0].filter.name")
    #expect(unknown.reason == "UNKNOWN_FILTER")
    #expect(unknown.value == "sepiaTon")
    #expect(unknown.suggestion == "sepiaTone")
    #expect(unknown.line == nil)
    let range = try await error([.select([.filter("sepiaTone", ["intensity": .number(9)])])])
    #expect(range.reason == "OUT_OF_LIMITS")
    #expect(range.value == "9.0")
    #expect(range.limit == "-8.0 ... 8.0")
    let revision = try await error([
      .with {
        $0.select.pipelineText = ""
        $0.select.ifRevision = 4
      }
    ])
    #expect(revision.code == .aborted)
    #expect(revision.reason == "REVISION_MISMATCH")
    #expect(revision.value == "4" && revision.limit == "1")
    let stage = try await error([.with { $0.activate.stages = ["worm": true] }])
    #expect(stage.suggestion == "warm")
    let label = try await withServer { _, address in
      try await withStub(address) { stub in
        try await ErrorParts.of {
          try await stub.converse([.open { $0.label = String(repeating: "l", count: 129) }])
        }
      }
    }
    #expect(label.field == "open.label")
    #expect(label.reason == "OUT_OF_RANGE")
    #expect(label.value == "129" && label.limit == "128")
  }

  // MARK: Cost

  @Test func `the stages of a text count as control messages`() async throws {
    let clock = ManualClock()
    let text = Array(repeating: "colorInvert", count: 64).joined(separator: ", ")
    // Each message costs 65 units; the last one that is handled may exceed the budget.
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
