import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// The rules that apply to a caller and its participant.
@Suite(.timeLimit(.minutes(5))) struct PermissionRuleTests {
  private static let rules = [
    "participants=guest* callers=sub:sfu@test filters=sepiaTone+vignette",
    "participants=guest* filters=sepiaTone", "participants=* filters=*",
    "callers=sub:sfu* filters=sepiaTone+vignette+pixellate",
    "scopes=operate+introspect filters=pixellate", "callers=sub:bob@test filters=vignette",
  ]

  private static let authenticator = TokenTable([
    "sfu": Principal(name: "sub:sfu@test", scopes: .participant),
    "bob": Principal(name: "sub:bob@test", scopes: [.stream]),
    "carol": Principal(name: "sub:carol@test", scopes: .participant),
    "dave": Principal(name: "sub:dave@test", scopes: [.stream]),
    "eve": Principal(
      name: "sub:sfu-2@test", scopes: .participant, filters: try? FilterNameList(["CISepia*"])),
    "frank": Principal(
      name: "sub:sfu-3@test", scopes: .participant, filters: try? FilterNameList([])),
  ])

  private static let cases: [(token: String, participant: String, filters: [String])] = [
    ("sfu", "", ["pixellate", "sepiaTone", "vignette"]),
    ("sfu", "guest-1", ["sepiaTone", "vignette"]),
    ("sfu", "host", ["pixellate", "sepiaTone", "vignette"]),
    // A participant is not permitted more than its caller, and callers of other names have others.
    ("bob", "", ["vignette"]), ("bob", "guest-1", []), ("bob", "host", ["vignette"]),
    // The rule for a scope comes first, and applies to callers with one of its scopes.
    ("carol", "", ["pixellate"]),
    // The rules don't match.
    ("dave", "", []),
    ("eve", "", ["sepiaTone"]), ("eve", "guest-1", ["sepiaTone"]), ("frank", "", []),
  ]

  @Test func `the first rule for the caller and the first for the participant apply`()
    async throws
  {
    var configuration = ServerConfiguration()
    configuration.permissions = try Self.rules.map { text throws in try PermissionRule(text) }
    try await withServer(configuration, authenticator: Self.authenticator) { _, address in
      try await withStub(address) { stub in
        for (token, participant, filters) in Self.cases {
          let metadata: Metadata = ["authorization": "Bearer \(token)"]
          let listed = try await stub.listFilters(
            .with { $0.participant = participant }, metadata: metadata)
          #expect(listed.filters.map(\.name) == filters, "\(token) \(participant)")
          for name in ["pixellate", "sepiaTone", "vignette"] {
            let isPermitted: Bool
            do {
              _ = try await stub.checkPipeline(
                .with {
                  $0.text = name
                  $0.participant = participant
                }, metadata: metadata)
              isPermitted = true
            } catch let error as RPCError where error.code == .permissionDenied {
              isPermitted = false
            }
            #expect(isPermitted == filters.contains(name), "\(token) \(participant) \(name)")
          }
        }
      }
    }
  }

  @Test func `the error names what does not permit the filter`() async throws {
    var configuration = ServerConfiguration()
    configuration.permissions = try [
      "participants=* filters=pixellate", "filters=*",
    ].map { text throws in try PermissionRule(text) }
    try await withServer(configuration, authenticator: Self.authenticator) { _, address in
      try await withStub(address) { stub in
        for (token, participant, origin) in [
          ("sfu", "ana", "the participant's permissions"), ("eve", "", "the token's claim filters"),
        ] {
          let error = try await PermissionTests.refusal {
            try await stub.checkPipeline(
              .with {
                $0.text = "vignette"
                $0.participant = participant
              }, metadata: ["authorization": "Bearer \(token)"])
          }
          #expect(error.message.contains("is not permitted by \(origin)"))
        }
      }
    }
  }

  @Test func `without authentication a rule for scopes applies to all callers`() async throws {
    var configuration = ServerConfiguration()
    configuration.permissions = [try PermissionRule("scopes=operate filters=sepiaTone")]
    try await withServer(configuration) { _, address in
      try await withStub(address) { stub in
        let names = try await stub.listFilters(.init()).filters.map(\.name)
        #expect(names == ["sepiaTone"])
      }
    }
  }

  @Test func `a custom filter needs permission too`() async throws {
    let gate = Gate()
    let rules = try ["filters=sepiaTone", "filters=ga*"].map { text throws in
      PermissionTests.configuration(try PermissionRule(text))
    }
    try await withServer(rules[0], catalogue: gate.catalogue) { server, address in
      try await withStub(address) { stub in
        let open = Sidelight_V1_ClientMessage.open([.filter("gate")])
        let error = try await PermissionTests.refusal { try await stub.converse([open]) }
        #expect(error.code == .permissionDenied)
        server.reconfigure(rules[1])
        let answers = try await stub.converse([open])
        #expect(answers.finalStats != nil)
      }
    }
  }
}
