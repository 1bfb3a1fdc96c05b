import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import SidelightClient
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// The enforcement of permissions at all entries of a server.
@Suite(.timeLimit(.minutes(5))) struct PermissionTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 16, 12)
  static let sepia: Pipeline = [.filter("sepiaTone")]
  static let pixellate: Pipeline = [.filter("pixellate", ["scale": .number(8)])]

  static func configuration(_ rules: PermissionRule...) -> ServerConfiguration {
    var configuration = ServerConfiguration()
    configuration.permissions = rules
    configuration.resumeKeys = [ResumeTests.key("a", 1)]
    return configuration
  }

  /// A rule for all callers.
  static func rule(_ filters: [String], _ ranges: [String] = []) throws -> PermissionRule {
    PermissionRule(
      filters: try FilterNameList(filters),
      parameters: try ranges.map { try #require(ParameterRange($0)) })
  }

  /// The error with which a call ends.
  static func refusal<Result>(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Result
  ) async throws -> RPCError {
    try #require(
      await #expect(throws: RPCError.self, sourceLocation: sourceLocation) {
        _ = try await body()
      }, sourceLocation: sourceLocation)
  }

  @Test func `a session opens and changes only to permitted filters and values`() async throws {
    let rule = try Self.rule(["sepiaTone", "pixellate"], ["pixellate.scale:8...64"])
    try await withServer(Self.configuration(rule)) { _, address in
      try await withStub(address) { stub in
        let stages = Pipeline(stages: [Stage(.filter(FilterCall(name: "pixellate")), id: "p")])
        let answers = try await stub.converse([
          .open(stages), .frame(1, Self.image),
          .select([.filter("sepiaTone"), .filter("CIVignette")], requestID: 1),
          .with {
            $0.update.requestID = 2
            $0.update.stages = [
              .with {
                $0.stage = "p"
                $0.parameters = ["inputScale": .with { $0.number = 4 }]
              }
            ]
          },
          .frame(2, Self.image), .select(Self.sepia, requestID: 3), .frame(3, Self.image),
        ])
        #expect(answers.frames.map(\.revision) == [1, 1, 2])
        #expect(answers.errors.map(\.requestID) == [1, 2])
        #expect(answers.errors.map(\.status.code) == [7, 7])
        #expect(
          answers.errors.map(\.status.message) == [
            "select.pipeline.stages[1].filter.name: the filter \"vignette\" is not permitted by "
              + "the caller's permissions",
            "update.pipeline.stages[0].filter.parameters[\"inputScale\"]: scale is 4.0; the range "
              + "permitted by the caller's permissions is 8...64",
          ])
        let inactive = Stage(.filter(FilterCall(name: "vignette")), id: "v", isActive: false)
        let error = try await Self.refusal { try await stub.converse([.open([inactive])]) }
        #expect(error.code == .permissionDenied)
        #expect(error.message.hasPrefix("open.pipeline.stages[0].filter.name: "))
      }
    }
  }

  @Test func `stills, checks and overrides are refused too`() async throws {
    let rule = try Self.rule(["sepiaTone"])
    try await withServer(Self.configuration(rule)) { _, address in
      try await withStub(address) { stub in
        let still = try await Self.refusal {
          try await stub.apply(
            .with {
              $0.image = Self.image
              $0.pipeline = Sidelight_V1_Pipeline(Self.pixellate)
            })
        }
        let message = try await Self.refusal {
          try await stub.checkPipeline(.with { $0.pipeline = .init(Self.pixellate) })
        }
        for error in [still, message] {
          #expect(error.code == .permissionDenied)
          #expect(error.message.hasPrefix("pipeline.stages[0].filter.name: the filter \"pixellate"))
        }
        let text = try await Self.refusal {
          try await stub.checkPipeline(.with { $0.text = "sepiaTone, [pixellate]" })
        }
        #expect(text.code == .permissionDenied)
        #expect(text.message.contains("column 13: the filter \"pixellate\" is not permitted"))
      }
      _ = try await OverrideResumeTests.visit(address, .open(Self.sepia)) { id in
        let error = try await Self.refusal {
          try await OverrideResumeTests.override(id, at: address, with: Self.pixellate)
        }
        #expect(error.code == .permissionDenied)
        #expect(error.message.hasPrefix("pipeline.stages[0].filter.name: "))
        try await OverrideResumeTests.override(id, at: address, with: Self.sepia)
      }
    }
  }

  @Test func `a token from a laxer time is refused`() async throws {
    let token = try await withServer(Self.configuration()) { _, address in
      try await OverrideResumeTests.visit(address, .open(Self.pixellate)).token
    }
    let rule = try Self.rule(["sepiaTone"])
    try await withServer(Self.configuration(rule)) { _, address in
      try await withStub(address) { stub in
        let error = try await Self.refusal {
          try await stub.converse([.open { $0.resumeToken = token }])
        }
        #expect(error.code == .permissionDenied)
        #expect(error.message.hasPrefix("open.resume_token.pipeline.stages[0].filter.name: "))
      }
    }
  }

  @Test func `a reload applies to the next change of an open session`() async throws {
    try await withServer(Self.configuration()) { server, address in
      try await AssetClient.with(address) { client in
        try await AssetTests.withSession(client, Self.pixellate) { session in
          let before = try await session.color(of: Self.image)
          server.reconfigure(Self.configuration(try Self.rule(["sepiaTone"])))
          let after = try await session.color(of: Self.image)
          #expect(after == before, "it keeps its pipeline")
          session.send(.with { $0.update.stages = [.with { $0.stage = "stages[0]" }] })
          #expect(try await session.receiveError().status.code == 7)
          session.send(.select(Self.sepia))
          let sepia = try await session.color(of: Self.image)
          #expect(sepia != before)
          let error = try await Self.refusal {
            try await client.stub.converse([.open(Self.pixellate)])
          }
          #expect(error.code == .permissionDenied)
          server.reconfigure(Self.configuration())
          session.send(.select(Self.pixellate))
          let again = try await session.color(of: Self.image)
          #expect(again == before)
        }
      }
    }
  }

  @Test func `a range of an unknown filter stops the start, and is refused on reload`() async throws
  {
    let wrong = Self.configuration(try Self.rule(["*"], ["pixelate.scale:8...64"]))
    let error = await #expect(throws: ConfigurationError.self) {
      try await withServer(wrong) { _, _ in }
    }
    #expect(error?.setting == "permissions[0].parameters")
    #expect(error?.value.contains("did you mean pixellate?") == true)
    try await withServer { server, _ in
      #expect(throws: ConfigurationError.self) { try server.validate(wrong) }
      try server.validate(Self.configuration(try Self.rule(["*"], ["pixellate.scale:8...64"])))
    }
  }

  @Test func `a session limits itself with allowed filters`() async throws {
    let rule = try Self.rule(["sepiaTone", "pixellate"])
    try await withServer(Self.configuration(rule)) { _, address in
      try await withStub(address) { stub in
        func open(
          _ pipeline: Pipeline, _ filters: [String]
        ) async throws -> [Sidelight_V1_ServerMessage] {
          try await stub.converse([
            .open(pipeline) { $0.allowedFilters = filters }, .frame(1, Self.image),
          ])
        }
        #expect(try await open(Self.sepia, ["CISepia*", "vignette"]).frames.count == 1)
        #expect(try await open(Self.pixellate, []).frames.count == 1)
        #expect(try await open([], ["-"]).frames.count == 1)
        let full = Array(repeating: "sepiaTone", count: 256)
        #expect(try await open(Self.sepia, full).frames.count == 1)
        let refusals: [(Pipeline, [String], RPCError.Code, String)] = [
          (
            Self.sepia, ["-"], .permissionDenied,
            "the filter \"sepiaTone\" is not permitted by open.allowed_filters"
          ),
          (
            Self.pixellate, ["sepiaTone"], .permissionDenied,
            "the filter \"pixellate\" is not permitted by open.allowed_filters"
          ),
          (
            [.filter("vignette")], ["*"], .permissionDenied,
            "the filter \"vignette\" is not permitted by the caller's permissions"
          ),
          (
            Self.sepia, full + ["*"], .invalidArgument,
            "open.allowed_filters: has 257 entries; the limit is 256"
          ),
          (
            Self.sepia, ["sepiaTone", ""], .invalidArgument,
            "open.allowed_filters[1]: has 0 bytes; the range is 1 to 64"
          ),
          (
            Self.sepia, ["*Tone"], .invalidArgument,
            "open.allowed_filters[0]: is \"*Tone\"; a * is valid only at the end of a name"
          ),
        ]
        for (pipeline, filters, code, message) in refusals {
          let error = try await Self.refusal { try await open(pipeline, filters) }
          #expect(error.code == code)
          #expect(error.message.hasSuffix(message))
        }
      }
    }
  }

  @Test(arguments: [nil, []] as [[String]?])
  func `the client library permits all filters without a list and none with an empty one`(
    allowed: [String]?
  ) async throws {
    try await withServer { _, address in
      try await SidelightClient.connect(to: address) { client in
        let options = SessionOptions(allowedFilters: allowed)
        try await client.withSession(options) { session in
          session.select([.filter("vignette")])
          for try await event in session.events {
            if case .rejected(let change) = event {
              #expect(allowed == [])
              #expect(change.message.contains("open.allowed_filters"))
              break
            }
            if case .accepted = event {
              #expect(allowed == nil)
              break
            }
          }
        }
      }
    }
  }

  @Test func `lists and descriptions contain what the caller and the participant may use`()
    async throws
  {
    var forGuests = try Self.rule(["sepiaTone", "vignette"], ["sepiaTone.intensity:0...0.5"])
    forGuests.participants = [NamePattern("guest*")]
    var forOthers = try Self.rule(["*"])
    forOthers.participants = [NamePattern("*")]
    let forCallers = try Self.rule(["sepiaTone", "pixellate"], ["pixellate.scale:16..."])
    try await withServer(Self.configuration(forGuests, forOthers, forCallers)) { _, address in
      try await withStub(address) { stub in
        func list(_ participant: String) async throws -> [Sidelight_V1_FilterDescription] {
          try await stub.listFilters(.with { $0.participant = participant }).filters
        }
        let names = try await ["", "guest-1", "host"].mapInTurn { try await list($0).map(\.name) }
        #expect(names == [["pixellate", "sepiaTone"], ["sepiaTone"], ["pixellate", "sepiaTone"]])
        let intensity = try await list("guest-1")[0].parameters.first { $0.name == "intensity" }
        #expect(intensity?.limits.minimum == 0 && intensity?.limits.maximum == 0.5)
        #expect(intensity?.slider.maximum == 0.5 && intensity?.hasDefaultValue == false)
        let described = try await stub.describeFilter(.with { $0.name = "CIPixellate" }).filter
        let scale = described.parameters.first { $0.name == "scale" }
        #expect(scale?.limits.minimum == 16 && scale?.slider.minimum == 16)
        #expect(scale?.slider.maximum == 100)
        let error = try await Self.refusal {
          try await stub.describeFilter(.with { $0.name = "vignette" })
        }
        #expect(error.code == .permissionDenied)
        #expect(error.message == "name: the filter 'vignette' is not permitted")
        // The names of filters that are not permitted are not suggested either.
        let description = try await Self.refusal {
          try await stub.describeFilter(.with { $0.name = "vignete" })
        }
        #expect(description.message == "name: there is no filter 'vignete'")
        let check = try await Self.refusal {
          try await stub.checkPipeline(.with { $0.pipeline = .init([.filter("vignete")]) })
        }
        #expect(check.message.hasSuffix("there is no filter named \"vignete\""))
      }
    }
  }
}

extension Sequence {
  /// Transforms the elements sequentially.
  func mapInTurn<Result>(
    _ transform: (Element) async throws -> Result
  ) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
