import Foundation
import GRPCCore
import GRPCProtobuf
import InMemoryTracing
import Logging
import SidelightClient
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing
import Tracing

/// The participants of a caller: their names, limits, tokens, and their place in lists and reports.
@Suite(.timeLimit(.minutes(5))) struct ParticipantTests {
  static let image = Sidelight_V1_Image.noise(.gray8, 10, 10)

  static func open(
    _ participant: String, _ pipeline: Pipeline = [.filter("sepiaTone")], label: String = "",
    resuming token: Data = Data()
  ) -> Sidelight_V1_ClientMessage {
    .open(pipeline) {
      $0.participant = participant
      $0.label = label
      $0.resumeToken = token
    }
  }

  private static let names: [(name: String, error: String?)] = [
    ("", nil), ("Ana Maria, 2 *", nil), (String(repeating: "é", count: 64), nil), ("東京 🎥", nil),
    (String(repeating: "a", count: 128), nil),
    (String(repeating: "a", count: 129), "has 129 bytes; the limit is 128"),
    (
      String(repeating: "\u{1}", count: 300_000), "has 300000 bytes; the limit is 128"
    ),
    ("a\nb", "contains the character U+000A, which is not printable; leave it out"),
    ("\u{0}", "contains the character U+0000, which is not printable; leave it out"),
    ("\u{1B}[2J", "contains the character U+001B, which is not printable; leave it out"),
    ("a\u{202E}b", "contains the character U+202E, which is not printable; leave it out"),
    ("a\u{2028}b", "contains the character U+2028, which is not printable; leave it out"),
  ]

  @Test func `names of participants are checked in each request that has one`() async throws {
    try await withServer { _, address in
      try await AssetClient.with(address) { client in
        let requests: [(String, (String) async throws -> Void)] = [
          ("open.participant", { _ = try await client.stub.converse([Self.open($0)]) }),
          (
            "participant",
            { name in
              _ = try await client.stub.apply(
                .with {
                  $0.image = Self.image
                  $0.participant = name
                })
            }
          ),
          (
            "participant",
            { name in
              _ = try await client.stub.checkPipeline(
                .with {
                  $0.text = ""
                  $0.participant = name
                })
            }
          ),
          (
            "participant",
            { name in _ = try await client.stub.listFilters(.with { $0.participant = name }) }
          ),
          (
            "participant",
            { name in _ = try await client.assets.listAssets(.with { $0.participant = name }) }
          ),
          (
            "header.participant",
            { name in
              _ = try await client.put("x", AssetFiles.negative, participant: name)
              try await client.delete("x", participant: name)
            }
          ),
          (
            "participant",
            { name in
              try await withOperators(address) { operators in
                _ = try await operators.listSessions(.with { $0.participant = name })
              }
            }
          ),
        ]
        for (field, request) in requests {
          for (name, reason) in Self.names {
            do {
              try await request(name)
              #expect(reason == nil, "\(field)")
            } catch let error as RPCError {
              #expect(error.code == .invalidArgument, "\(field): \(error)")
              #expect(error.message == "\(field): \(reason ?? "accepted")")
            }
          }
        }
      }
    }
  }

  @Test func `the limits are stated`() async throws {
    try await withServer { _, address in
      try await withStub(address) { stub in
        let limits = try await stub.getServerInfo(.init()).limits
        #expect(limits.maxParticipantBytes == 128 && limits.maxAllowedFilters == 256)
      }
    }
  }

  @Test func `sessions are limited per participant`() async throws {
    var configuration = ServerConfiguration()
    configuration.quotas.participant.sessions = 1
    configuration.quotas.sessions = 3
    try await withServer(configuration) { _, address in
      try await withStub(address) { stub in
        try await SessionListTests.withSessions([Self.open("ana"), Self.open("ben")], stub) { _ in
          let error = try await PermissionTests.refusal {
            try await stub.converse([Self.open("ana")])
          }
          #expect(error.code == .resourceExhausted)
          #expect(
            error.message == "The participant \"ana\" of ipv4:127.0.0.1 has 1 sessions; the limit "
              + "(max_sessions_per_participant) is 1.")
          let status = try error.unpackGoogleRPCStatus()
          #expect(status?.details.contains { $0.retryInfo != nil } == true)
          // The caller itself is not limited by it, but the caller's limit counts all three.
          try await SessionListTests.withSessions([Self.open("")], stub) { _ in
            let error = try await PermissionTests.refusal {
              try await stub.converse([Self.open("carol")])
            }
            #expect(error.message.contains("max_sessions_per_caller"))
          }
        }
        // Closed sessions do not count.
        try await expectEventually("a session of the participant is accepted") {
          (try? await stub.converse([Self.open("ana")])) != nil
        }
      }
    }
  }

  @Test func `frames and stills are limited per participant`() async throws {
    var configuration = ServerConfiguration()
    configuration.quotas.participant.framesPerSecond = 2
    let clock = ManualClock()
    try await withServer(configuration, clock: clock.sessionClock) { _, address in
      try await withStub(address) { stub in
        func drops(_ participant: String) async throws -> UInt64 {
          let frames = (1 ... 5).map { Sidelight_V1_ClientMessage.frame($0, Self.image) }
          let answers = try await stub.converseInTurn(
            .open(policy: .newestWins) { $0.participant = participant }, frames)
          return answers.finalStats?.dropped.first { $0.reason == .rateLimited }?.count ?? 0
        }
        let counts = try await ["ana", "ben", "", "ana"].mapInTurn { try await drops($0) }
        #expect(counts == [3, 3, 0, 5])
        let error = try await PermissionTests.refusal {
          try await stub.apply(
            .with {
              $0.image = Self.image
              $0.participant = "ana"
            })
        }
        #expect(error.code == .resourceExhausted)
        let quota = try error.unpackGoogleRPCStatus()?.details.compactMap(\.quotaFailure).first
        let violation = quota?.violations.first
        #expect(violation?.subject == "participant \"ana\" of ipv4:127.0.0.1")
        #expect(violation?.violationDescription == "participant_frames_per_second is 2.0")
      }
    }
  }

  @Test func `sessions are listed with participant and caller, and by participant`() async throws {
    let opens = ["ana", "ben", "", "ana"].map { Self.open($0) }
    try await SessionListTests.withSessions(opens) { operators, ids in
      let all = try await operators.listSessions(.init()).sessions
      #expect(all.map(\.participant) == ["ana", "ben", "", "ana"])
      #expect(all.allSatisfy { $0.caller == "ipv4:127.0.0.1" })
      let first = try await operators.listSessions(
        .with {
          $0.participant = "ana"
          $0.pageSize = 1
        })
      #expect(first.sessions.map(\.sessionID) == [ids[0]])
      let request = Sidelight_V1_ListSessionsRequest.with {
        $0.participant = "ana"
        $0.pageToken = first.nextPageToken
      }
      let second = try await operators.listSessions(request)
      #expect(second.sessions.map(\.sessionID) == [ids[3]] && second.nextPageToken.isEmpty)
      let none = try await operators.listSessions(.with { $0.participant = "nobody" })
      #expect(none.sessions.isEmpty)
      let error = try await PermissionTests.refusal {
        try await operators.listSessions(.with { $0.pageToken = first.nextPageToken })
      }
      #expect(error.message.hasPrefix("page_token: "))
    }
  }

  @Test func `a listed session takes less than 4 KiB`() async throws {
    let name = String(repeating: "é", count: 64)
    let weights = ParameterValue.vector(Array(repeating: 0.0123456789, count: 25))
    let long = Pipeline(
      stages: (0 ..< 40).map { _ in .filter("convolution5X5", ["weights": weights]) })
    let caller = "sub:\(String(repeating: "s", count: 600))@test"
    let table = TokenTable(["long": Principal(name: caller, scopes: .all)])
    let metadata: Metadata = ["authorization": "Bearer long"]
    try await withServer(authenticator: table) { _, address in
      try await withConnection(address) { connection in
        let operators = Sidelight_V1_Sessions.Client(wrapping: connection)
        let open = Self.open(name, long, label: name)
        try await Stub(wrapping: connection).whileOpen(open, metadata: metadata) { opened in
          _ = try await operators.overrideSession(
            .with {
              $0.sessionID = opened.sessionID
              $0.pipeline = Sidelight_V1_Pipeline(long)
              $0.timeToLive.seconds = 60
              $0.reason = String(repeating: "é", count: 128)
            }, metadata: metadata)
          let listed = try await operators.listSessions(.init(), metadata: metadata)
          let info = try #require(listed.sessions.first)
          #expect(info.caller.utf8.count == 512 && info.caller.hasSuffix("..."))
          #expect(info.overrideReason.utf8.count == 256)
          // Counts, size and times may increase the size of a new session's description.
          #expect(info.byteCount + 400 < 4096)
        }
      }
    }
  }

  @Test(arguments: ["", "ana", "ben"])
  func `a resume token is valid for its participant only`(participant: String) async throws {
    try await withServer { _, address in
      try await withStub(address) { stub in
        let answers = try await stub.converse([Self.open("ana"), .frame(1, Self.image)])
        let token = try #require(answers.applied.last?.resumeToken)
        let open = Self.open(participant, [], resuming: token)
        guard participant != "ana" else {
          let again = try await stub.converse([open, .frame(1, Self.image)])
          #expect(again.frames.first?.image == answers.frames.first?.image)
          return
        }
        let error = try await PermissionTests.refusal { try await stub.converse([open]) }
        #expect(error.code == .failedPrecondition)
        #expect(error.message.hasPrefix("open.resume_token: is not one of this server's"))
      }
    }
  }

  @Test func `a token without a participant is not valid for one`() async throws {
    try await withServer { _, address in
      try await withStub(address) { stub in
        let answers = try await stub.converse([Self.open(""), .frame(1, Self.image)])
        let token = try #require(answers.applied.last?.resumeToken)
        let error = try await PermissionTests.refusal {
          try await stub.converse([Self.open("ana", resuming: token)])
        }
        #expect(error.code == .failedPrecondition)
      }
    }
  }

  @Test func `logs, spans and the status name the participant`() async throws {
    let log = CollectedLog()
    var logger = Logger(label: "test") { _ in log }
    logger.logLevel = .info
    let tracer = W3CTracer()
    try await withServer(tracer: tracer, logger: logger) { server, address in
      try await withStub(address) { stub in
        let opens = [Self.open("ana"), Self.open("")]
        try await SessionListTests.withSessions(opens[...], stub) { _ in
          #expect(server.status.sessions.map(\.participant) == ["ana", ""])
        }
        for open in opens { _ = try await stub.converse([open, .frame(1, Self.image)]) }
        _ = try await stub.apply(
          .with {
            $0.image = Self.image
            $0.participant = "ana"
          })
      }
    }
    for event in ["session opened", "session ended"] {
      let lines = log.lines.filter { $0.hasPrefix(event) }
      #expect(lines.count { $0.contains("participant") && $0.contains("ana") } == 2)
      #expect(lines.count { !$0.contains("participant") } == 2)
    }
    let spans = tracer.memory.finishedSpans
    func participants(_ name: String) -> [SpanAttribute?] {
      spans.filter { $0.operationName == name }
        .map { $0.attributes.get("sidelight.participant") }
    }
    #expect(participants("sidelight.frame") == [.string("ana"), nil])
    #expect(participants("sidelight.v1.FrameFilter/Apply") == [.string("ana")])
  }

  @Test func `the client library names the participant and limits its filters`() async throws {
    try await withServer { _, address in
      let options = SessionOptions(participant: "ana", allowedFilters: ["sepia*"])
      try await SidelightClient.connect(to: address) { client in
        try await client.withSession(options) { session in
          try await withOperators(address) { operators in
            let listed = try await operators.listSessions(.init()).sessions
            #expect(listed.map(\.participant) == ["ana"])
          }
          session.select([.filter("vignette")])
          for try await event in session.events {
            guard case .rejected(let change) = event else { continue }
            #expect(change.message.contains("open.allowed_filters"))
            break
          }
        }
        try await client.putAsset(
          named: "x", contents: AssetFiles.negative, participant: "ana")
        let owned = try await client.listAssets(participant: "ana")
        #expect(owned.map(\.isOfParticipant) == [true])
        let ofCaller = try await client.listAssets()
        #expect(ofCaller.isEmpty)
        try await client.deleteAsset(named: "x", participant: "ana")
        let left = try await client.listAssets(participant: "ana")
        #expect(left.isEmpty)
      }
    }
  }
}
