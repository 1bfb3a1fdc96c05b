import GRPCCore
import GRPCNIOTransportHTTP2Posix
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Synchronization
import Testing

/// Tests of the errors of pipelines: their fields, positions, values, limits and suggestions.
@Suite(.timeLimit(.minutes(5))) struct PipelineErrorTests {
  private typealias Requests = PipelineTextRequestTests

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

  /// Returns the error of a text.
  static func error(of text: String, in place: Place) async throws -> ErrorParts {
    try await withServer { _, address in
      try await withConnection(address) { client in
        let stub = Stub(wrapping: client)
        switch place {
        case .open:
          return try await ErrorParts.of {
            try await stub.converse([Requests.open(text: text)])
          }
        case .select:
          let answers = try await stub.converse([
            .open(), Requests.select(text: text, requestID: 3), .frame(1, Requests.image),
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
                $0.image = Requests.image
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

  // MARK: Texts

  static let errors: [(text: String, before: String, reason: String, suggestion: String?)] = [
    ("sepiaTone, gausianBlur", "sepiaTone, ", "UNKNOWN_FILTER", "gaussianBlur"),
    ("sepiaTone(intensty: 1)", "sepiaTone(", "UNKNOWN_PARAMETER", "intensity"),
    (
      "vignette,\n  sepiaTone(intensity: 99)", "vignette,\n  sepiaTone(intensity: ",
      "OUT_OF_LIMITS", nil
    ),
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

  // MARK: Messages

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
}
