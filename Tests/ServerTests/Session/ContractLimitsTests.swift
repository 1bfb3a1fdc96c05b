import Foundation
import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// The server refuses messages that exceed its stated limits, and does not store any part of them.
@Suite(.timeLimit(.minutes(5))) struct ContractLimitsTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 16, 12)

  static func name(_ count: Int) -> String { String(repeating: "n", count: count) }

  static func named(_ id: String) -> Pipeline {
    [Stage(.filter(FilterCall(name: "sepiaTone")), id: id)]
  }

  static func converse(
    catalogue: FilterCatalogue = .builtIn, _ messages: [Sidelight_V1_ClientMessage]
  ) async throws -> [Sidelight_V1_ServerMessage] {
    try await withServer(catalogue: catalogue) { _, address in
      try await withStub(address) { stub in try await stub.converse(messages) }
    }
  }

  @Test func `the stated limits are the enforced limits`() async throws {
    let answers = try await Self.converse([.open()])
    let limits = try #require(answers.first).opened.limits
    #expect(limits.maxStages == 64)
    #expect(limits.maxPipelineDepth == 8)
    #expect(limits.maxStageIDBytes == 64)
    #expect(limits.maxNameBytes == 64)
    #expect(limits.maxTextBytes == 1024)
    #expect(limits.maxVectorValues == 1024)
    #expect(limits.maxParameters == 64)
    #expect(limits.maxPipelineBytes == 65536)
    #expect(limits.maxPipelineTextBytes == 16384)
    #expect(limits.maxLabelBytes == 128)
    #expect(limits.maxTags == 16)
    #expect(limits.maxTagBytes == 1024)
    #expect(limits.maxReasonBytes == 256)
    #expect(limits.maxResumeTokenBytes == 132096)
    #expect(limits.maxPageSize == 1000)
    #expect(limits.controlUnitsPerSecond == 4000)
    #expect(limits.controlBytesPerSecond == 1 << 20)
  }

  @Test(
    arguments: [65, 1_000_000])
  func `an open with a stage id that is too long is refused with field, size and limit`(count: Int)
    async throws
  {
    let error = await #expect(throws: RPCError.self) {
      try await Self.converse([.open(Self.named(Self.name(count)))])
    }
    #expect(error?.code == .invalidArgument)
    #expect(
      error?.message == "open.pipeline.stages[0].id: has \(count) bytes; the limit is 64")
  }

  @Test func `a resume token that is too long is refused before it is parsed`() async throws {
    let error = await #expect(throws: RPCError.self) {
      try await Self.converse([.open { $0.resumeToken = Data(count: 132_097) }])
    }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message == "open.resume_token: has 132097 bytes; the limit is 132096")
  }

  @Test func `changes that are too large get an error, and the session continues`() async throws {
    let answers = try await Self.converse([
      .open(Self.named("warm")),
      .select(Self.named(Self.name(65)), requestID: 1),
      .with {
        $0.update.requestID = 2
        $0.update.stages = [
          .with {
            $0.stage = "warm"
            $0.parameters = ["intensity": .with { $0.text = Self.name(2000) }]
          }
        ]
      },
      .with {
        $0.update.requestID = 3
        $0.update.stages = Array(repeating: .with { $0.stage = "warm" }, count: 65)
      },
      .with {
        $0.update.requestID = 4
        $0.update.stages = [
          .with { update in
            update.stage = "warm"
            for number in 0 ..< 65 { update.parameters["p\(number)"] = .with { $0.number = 1 } }
          }
        ]
      },
      .with {
        $0.activate.requestID = 5
        for number in 0 ..< 65 { $0.activate.stages["s\(number)"] = true }
      },
      .frame(1, Self.image),
    ])
    #expect(answers.errors.map(\.requestID) == [1, 2, 3, 4, 5])
    #expect(
      answers.errors.map(\.status.message) == [
        "select.pipeline.stages[0].id: has 65 bytes; the limit is 64",
        "update.pipeline.stages[0].filter.parameters[\"intensity\"]: has 2000 bytes; the limit is "
          + "1024",
        "update.stages: has 65 entries; the limit is 64",
        "update.stages[0].parameters: has 65 entries; the limit is 64",
        "activate.stages: has 65 entries; the limit is 64",
      ])
    #expect(answers.frames.map(\.revision) == [1])
  }

  @Test func `a token can hold the largest pipeline; a larger pipeline is refused`() async throws {
    let limit = ContractLimits.maxPipelineBytes
    let largest = Pipeline.long(bytes: limit)
    #expect(Sidelight_V1_Pipeline(largest).byteCount == limit)
    try await withServer(catalogue: .withLongFilter) { _, address in
      try await withStub(address) { stub in
        let first = try await stub.converse([
          .open(), .select(largest, requestID: 1),
          .select(.long(bytes: limit + 1), requestID: 2), .frame(1, Self.image),
        ])
        #expect(first.errors.map(\.requestID) == [2])
        #expect(
          first.errors.first?.status.message
            == "select.pipeline.stages: take 65537 bytes in all; the limit is 65536")
        let token = try #require(first.applied.last).resumeToken
        #expect(token.count > limit)
        #expect(token.count <= ContractLimits.maxResumeTokenBytes)
        let second = try await stub.converse([
          .open { $0.resumeToken = token }, .frame(1, Self.image),
        ])
        #expect(second.first?.opened.revision == 2)
        // A canonical form stays the same: the next token has the same size.
        #expect(second.first?.opened.resumeToken.count == token.count)
      }
    }
  }

  @Test func `a token can hold the largest pipeline and the largest override`() throws {
    let largest = Pipeline.long(bytes: ContractLimits.maxPipelineBytes)
    var pipelineState = try PipelineState(pipeline: largest, catalogue: .withLongFilter)
    try pipelineState.override(
      with: largest, reason: Self.name(ContractLimits.maxReasonBytes), until: .seconds(86400))
    let tokens = ResumeTokens(
      keys: [ResumeKey(id: Self.name(64), secret: Data(count: 32))], lifetime: .seconds(300))
    let now: UInt64 = 1_800_000_000_000_000_000
    let token = tokens.sign(
      pipelineState.resumeState(
        of: SessionLineage(), at: .zero, wallNow: now, lifetime: tokens.lifetime))
    #expect(token.count > 2 * ContractLimits.maxPipelineBytes)
    #expect(token.count <= ContractLimits.maxResumeTokenBytes)
    let resumed = try PipelineState(
      resuming: try tokens.verify(token, at: now), at: .zero, wallNow: now,
      catalogue: .withLongFilter)
    #expect(resumed.effectivePipeline == largest)
  }

  @Test
  func `an update that would make the pipeline too large is refused as a whole`() async throws {
    let limit = ContractLimits.maxPipelineBytes
    let answers = try await Self.converse(
      catalogue: .withLongFilter,
      [
        .open([.filter("long"), .filter("long")]),
        .with { message in
          message.update.stages = ["stages[0]", "stages[1]"].map { stage in
            .with { update in
              update.stage = stage
              for (name, count) in Pipeline.longParameters where count == 1000 {
                update.parameters[name] = .with {
                  $0.vector.values = Array(repeating: 0.5, count: count)
                }
              }
            }
          }
        },
        .frame(1, Self.image),
      ])
    let message = answers.errors.first?.status.message
    #expect(message?.hasPrefix("update.pipeline.stages: take ") == true)
    #expect(message?.hasSuffix("bytes in all; the limit is \(limit)") == true)
    #expect(answers.frames.map(\.revision) == [1])
  }

  @Test func `a token does not contain unknown fields of the client's pipeline`() async throws {
    let open = try Sidelight_V1_ClientMessage(
      serializedBytes: try Sidelight_V1_ClientMessage.with {
        $0.open.pipeline = try Sidelight_V1_Pipeline(
          serializedBytes: Sidelight_V1_Pipeline(Self.named("warm")).serializedBytes() as Data
            // Field 1000, 65535 bytes.
            + Data([0xC2, 0x3E, 0xFF, 0xFF, 0x03]) + Data(repeating: 7, count: 65535))
      }.serializedBytes() as Data)
    #expect(open.byteCount > 65535)
    let answers = try await Self.converse([open])
    let opened = try #require(answers.first).opened
    #expect((1 ..< 300).contains(opened.resumeToken.count))
  }

  @Test func `a trace context that is longer than the limit is ignored`() {
    let context = Sidelight_V1_TraceContext.with {
      $0.traceparent = Self.name(513)
      $0.tracestate = Self.name(512)
    }
    let extractor = TraceContextExtractor()
    #expect(extractor.extract(key: "traceparent", from: context) == nil)
    #expect(extractor.extract(key: "tracestate", from: context) == context.tracestate)
  }

  struct Call: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let message: String
    let call: @Sendable (Address) async throws -> Void
  }

  static let long = String(repeating: "e\u{301}", count: 100_000)

  static let calls: [Call] = [
    Call(testDescription: "DescribeFilter", message: "name: has 300000 bytes; the limit is 64") {
      address in
      try await withStub(address) { stub in
        _ = try await stub.describeFilter(.with { $0.name = Self.long })
      }
    },
    Call(testDescription: "ListFilters", message: "category: has 300000 bytes; the limit is 64") {
      address in
      try await withStub(address) { stub in
        _ = try await stub.listFilters(.with { $0.category = Self.long })
      }
    },
    Call(
      testDescription: "CheckPipeline",
      message: "pipeline.stages[0].filter.name: has 300000 bytes; the limit is 64"
    ) { address in
      try await withStub(address) { stub in
        _ = try await stub.checkPipeline(
          .with { $0.pipeline = Sidelight_V1_Pipeline([.filter(Self.long)]) })
      }
    },
    Call(
      testDescription: "ListSessions", message: "label: has 300000 bytes; the limit is 128"
    ) { address in
      try await withOperators(address) { operators in
        _ = try await operators.listSessions(.with { $0.label = Self.long })
      }
    },
    Call(
      testDescription: "OverrideSession",
      message: "session_id: has 300000 bytes; the limit is 64"
    ) { address in
      try await withOperators(address) { operators in
        _ = try await operators.overrideSession(.with { $0.sessionID = Self.long })
      }
    },
    Call(
      testDescription: "CloseSession", message: "reason: has 300000 bytes; the limit is 256"
    ) { address in
      try await withOperators(address) { operators in
        _ = try await operators.closeSession(.with { $0.reason = Self.long })
      }
    },
    Call(
      testDescription: "MoveSession", message: "address: has 300000 bytes; the limit is 512"
    ) { address in
      try await withOperators(address) { operators in
        _ = try await operators.moveSession(.with { $0.address = Self.long })
      }
    },
    Call(testDescription: "DeleteAsset", message: "name: has 300000 bytes, the limit is 64") {
      address in
      try await withConnection(address) { connection in
        _ = try await Sidelight_V1_Assets.Client(wrapping: connection).deleteAsset(
          .with { $0.name = Self.long })
      }
    },
  ]

  @Test(
    arguments: Self.calls)
  func `the error for a name that is too long states its size and does not repeat it`(_ each: Call)
    async throws
  {
    let error = await #expect(throws: RPCError.self) {
      try await withServer { _, address in try await each.call(address) }
    }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message == each.message)
  }
}
