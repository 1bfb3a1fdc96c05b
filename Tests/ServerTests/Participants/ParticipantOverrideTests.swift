import Foundation
import GRPCCore
import Logging
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// An operator's decision about all sessions of a participant.
@Suite(.timeLimit(.minutes(5))) struct ParticipantOverrideTests {
  typealias Response = Sidelight_V1_OverrideSessionResponse

  static let cover: Pipeline = [.filter("gaussianBlur")]

  @discardableResult
  static func override(
    _ participant: String, caller: String = "", at address: Address, with pipeline: Pipeline?,
    seconds: Int64 = 60
  ) async throws -> Response {
    try await withOperators(address) { operators in
      try await operators.overrideSession(
        .with {
          $0.participant = participant
          $0.caller = caller
          if let pipeline { $0.pipeline = Sidelight_V1_Pipeline(pipeline) }
          $0.timeToLive.seconds = seconds
          $0.reason = "privacy"
        })
    }
  }

  /// The pipeline of a new session, as operators see it.
  static func pipeline(
    _ address: Address, _ participant: String, label: String = "", resuming token: Data = Data()
  ) async throws -> String {
    let open = ParticipantTests.open(participant, label: label, resuming: token)
    return try await OverrideResumeTests.visit(address, open).pipeline
  }

  @Test func `an override applies to the open and the later sessions of a participant`()
    async throws
  {
    let clock = ManualClock()
    try await withServer(clock: clock.sessionClock) { _, address in
      let first = try await OverrideResumeTests.visit(address, ParticipantTests.open("ana"))
      try await withStub(address) { stub in
        let opens = ["ana", "ben", "ana", ""].map { ParticipantTests.open($0) }
        try await SessionListTests.withSessions(opens[...], stub) { ids in
          let response = try await Self.override("ana", at: address, with: Self.cover)
          #expect(response.revision == 0)
          #expect(response.sessions.map(\.sessionID) == [ids[0], ids[2]])
          #expect(response.sessions.map(\.revision) == [2, 2])
          try await withOperators(address) { operators in
            let listed = try await operators.listSessions(.init()).sessions
            #expect(listed.map(\.overrideReason) == ["privacy", "", "privacy", ""])
            #expect(
              listed.map(\.pipeline) == ["gaussianBlur", "sepiaTone", "gaussianBlur", "sepiaTone"])
          }
        }
      }
      // New sessions, with and without a token from before, and with any label.
      let resumed = try await Self.pipeline(address, "ana", resuming: first.token)
      let others = try await [("ana", ""), ("ana", "x"), ("ben", "x"), ("", "x")].mapInTurn {
        try await Self.pipeline(address, $0.0, label: $0.1)
      }
      #expect(resumed == "gaussianBlur")
      #expect(others == ["gaussianBlur", "gaussianBlur", "sepiaTone", "sepiaTone"])
      clock.advance(by: .seconds(61))
      let after = try await Self.pipeline(address, "ana")
      #expect(after == "sepiaTone")
    }
  }

  @Test func `an override that ends is not restored by a token or in a new session`() async throws {
    try await withServer { _, address in
      try await Self.override("ana", at: address, with: Self.cover)
      let first = try await OverrideResumeTests.visit(address, ParticipantTests.open("ana"))
      #expect(first.pipeline == "gaussianBlur" && first.states.first?.state == .overridden)
      try await withStub(address) { stub in
        let open = ParticipantTests.open("ana")
        try await SessionListTests.withSessions([open], stub) { ids in
          let response = try await Self.override("ana", at: address, with: nil)
          #expect(response.sessions.map(\.sessionID) == ids)
          let again = try await Self.override("ana", at: address, with: nil)
          #expect(again.sessions.isEmpty)
        }
      }
      let token = try #require(first.states.last?.resumeToken)
      let resumed = try await Self.pipeline(address, "ana", resuming: token)
      let new = try await Self.pipeline(address, "ana")
      #expect([resumed, new] == ["sepiaTone", "sepiaTone"])
      try await Self.override("ana", at: address, with: [.filter("pixellate")])
      let last = try await Self.pipeline(address, "ana")
      #expect(last == "pixellate", "a later decision counts")
    }
  }

  @Test func `the end for one session lasts when the session is resumed`() async throws {
    try await withServer { _, address in
      try await Self.override("ana", at: address, with: Self.cover)
      let open = ParticipantTests.open("ana")
      let first = try await OverrideResumeTests.visit(address, open) { id in
        try await OverrideResumeTests.override(id, at: address, with: nil)
      }
      #expect(first.pipeline == "sepiaTone")
      let resumed = try await Self.pipeline(address, "ana", resuming: first.token)
      let new = try await Self.pipeline(address, "ana")
      #expect([resumed, new] == ["sepiaTone", "gaussianBlur"])
    }
  }

  @Test func `the end for a participant applies to its closed sessions too`() async throws {
    try await withServer { _, address in
      let first = try await OverrideResumeTests.visit(address, ParticipantTests.open("ana")) { id in
        try await OverrideResumeTests.override(id, at: address, with: Self.cover)
      }
      #expect(first.pipeline == "gaussianBlur")
      let kept = try await Self.pipeline(address, "ana", resuming: first.token)
      #expect(kept == "gaussianBlur")
      try await withOperators(address) { operators in
        try await expectEventually("the sessions are closed") {
          (try? await operators.listSessions(.init()).sessions.isEmpty) == true
        }
      }
      try await Self.override("ana", at: address, with: nil)
      let tokens = [first.token, try #require(first.states.last?.resumeToken)]
      let resumed = try await tokens.mapInTurn {
        try await Self.pipeline(address, "ana", resuming: $0)
      }
      #expect(resumed == ["sepiaTone", "sepiaTone"])
    }
  }

  @Test func `an override that expires gives way to an earlier one that lasts longer`() async throws
  {
    let clock = ManualClock()
    try await withServer(clock: clock.sessionClock) { _, address in
      try await withStub(address) { stub in
        try await SessionListTests.withSessions([ParticipantTests.open("ana")], stub) { ids in
          try await withOperators(address) { operators in
            try await Self.override("ana", at: address, with: Self.cover, seconds: 60)
            _ = try await operators.overrideSession(
              .with {
                $0.sessionID = ids[0]
                $0.pipelineText = "pixellate"
                $0.timeToLive.seconds = 10
              })
            var pipelines: [String] = []
            for seconds in [0, 11, 50] {
              clock.advance(by: .seconds(seconds))
              pipelines += try await operators.listSessions(.init()).sessions.map(\.pipeline)
            }
            #expect(pipelines == ["pixellate", "gaussianBlur", "sepiaTone"])
          }
        }
      }
    }
  }

  @Test func `the end for one session ends its earlier overrides too`() throws {
    let store = OverrideStore()
    let session = OverrideStore.Session(
      lineage: SessionLineage(), identity: CallerIdentity(caller: "a", participant: "ana"),
      label: "")
    func reason(at now: Duration) -> String {
      switch store.decision(for: session, at: now) {
      case .forced(_, let reason, _)?: reason
      case .lifted?: "lifted"
      case nil: "none"
      }
    }
    try store.record(
      .forced([], reason: "long", until: .seconds(60)),
      for: OverrideStore.Participants(name: "ana", caller: nil), at: .zero)
    try store.record(
      .forced([], reason: "short", until: .seconds(10)), for: session, at: .zero)
    #expect([0, 20].map { reason(at: .seconds($0)) } == ["short", "long"])
    try store.lift(session, until: .seconds(10), at: .zero)
    #expect([0, 20, 60].map { reason(at: .seconds($0)) } == ["lifted", "lifted", "none"])
  }

  @Test func `an override applies to the participants of one caller, or of all`() throws {
    let now = Duration.seconds(1)
    let store = OverrideStore()
    func decision(_ caller: String) -> String { decision(caller, at: now) }
    func decision(_ caller: String, at now: Duration) -> String {
      let session = OverrideStore.Session(
        lineage: SessionLineage(), identity: CallerIdentity(caller: caller, participant: "ana"),
        label: "")
      switch store.decision(for: session, at: now) {
      case .forced(_, let reason, _)?: return reason
      case .lifted?: return "lifted"
      case nil: return "none"
      }
    }
    func force(_ caller: String?, _ reason: String, until end: Duration = .seconds(10)) throws {
      try store.record(
        .forced([], reason: reason, until: end),
        for: OverrideStore.Participants(name: "ana", caller: caller), at: now)
    }
    func lift(_ caller: String?) throws {
      try store.lift(OverrideStore.Participants(name: "ana", caller: caller), at: now)
    }
    try force("a", "one")
    #expect(["a", "b"].map(decision) == ["one", "none"])
    try force(nil, "all")
    #expect(["a", "b"].map(decision) == ["all", "all"])
    try lift("a")
    #expect(["a", "b"].map(decision) == ["lifted", "all"])
    try force("a", "again")
    #expect(["a", "b"].map(decision) == ["again", "all"])
    try lift(nil)
    #expect(["a", "b"].map(decision) == ["lifted", "lifted"])
    // The end for one caller lasts as long as the override of all would have.
    try force(nil, "long", until: .seconds(60))
    try force("a", "short")
    try lift("a")
    #expect(["a", "b"].map { decision($0, at: .seconds(20)) } == ["lifted", "long"])
  }

  @Test func `the number of overrides of participants is limited`() throws {
    let store = OverrideStore()
    func force(_ name: String, at now: Duration) throws {
      try store.record(
        .forced([], reason: "", until: .seconds(10)),
        for: OverrideStore.Participants(name: name, caller: nil), at: now)
    }
    for number in 0 ..< OverrideStore.capacity { try force("\(number)", at: .zero) }
    #expect(throws: (any Error).self) { try force("other", at: .zero) }
    try force("0", at: .zero)
    try force("other", at: .seconds(10))
  }

  @Test func `the number of tracks with overrides is limited`() throws {
    let store = OverrideStore()
    func session(_ lineage: SessionLineage, _ label: String) -> OverrideStore.Session {
      OverrideStore.Session(
        lineage: lineage, identity: CallerIdentity(caller: "a", participant: "ana"), label: label)
    }
    func force(_ lineage: SessionLineage, _ label: String, at now: Duration) throws {
      try store.record(
        .forced([], reason: "", until: .seconds(10)), for: session(lineage, label), at: now)
    }
    // A client can use a new label whenever it resumes.
    let lineage = SessionLineage()
    for number in 0 ..< OverrideStore.capacity { try force(lineage, "\(number)", at: .zero) }
    let other = SessionLineage()
    #expect(throws: (any Error).self) { try force(other, "other", at: .zero) }
    let stored = store.decision(for: session(other, "other"), at: .zero)
    #expect(stored == nil, "nothing is stored")
    try force(lineage, "0", at: .zero)
    try force(other, "other", at: .seconds(10))
  }

  @Test func `the log names the operator who forces a pipeline, and who ends an override`()
    async throws
  {
    let log = CollectedLog()
    var logger = Logger(label: "test") { _ in log }
    logger.logLevel = .info
    try await withServer(logger: logger) { _, address in
      try await Self.override("ana", at: address, with: Self.cover)
      try await Self.override("ana", at: address, with: nil)
    }
    for event in ["session overridden", "override ended"] {
      let lines = log.lines.filter { $0.hasPrefix(event) }
      #expect(lines.count == 1)
      #expect(lines.allSatisfy { $0.contains("ana") && $0.contains("ipv4:127.0.0.1:") }, "\(event)")
    }
  }

  @Test func `a request names either a session or a participant`() async throws {
    try await withServer { _, address in
      try await withOperators(address) { operators in
        let requests: [(Sidelight_V1_OverrideSessionRequest, String)] = [
          (
            .with {
              $0.sessionID = "x"
              $0.participant = "ana"
            }, "participant: is set in addition to session_id; set one of them"
          ),
          (
            .with { $0.caller = "x" },
            "caller: is set without a participant; set participant, or leave it out"
          ),
          (
            .with { $0.participant = String(repeating: "a", count: 129) },
            "participant: has 129 bytes; the limit is 128"
          ),
          (
            .with {
              $0.participant = "ana"
              $0.caller = String(repeating: "a", count: 513)
            }, "caller: has 513 bytes; the limit is 512"
          ),
        ]
        for (request, message) in requests {
          let error = try await PermissionTests.refusal {
            try await operators.overrideSession(request)
          }
          #expect(error.code == .invalidArgument && error.message == message)
        }
      }
    }
  }
}
