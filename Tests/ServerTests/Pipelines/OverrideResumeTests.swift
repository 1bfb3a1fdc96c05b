import Foundation
import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Synchronization
import Testing

/// An operator's decision holds for the sessions with which a client comes back.
@Suite(.timeLimit(.minutes(5))) struct OverrideResumeTests {
  static let image = OverrideTests.image

  /// A session from its client's side: the answer to its opening, and its first frame's outcome.
  struct Visit {
    var id = ""
    var token = Data()
    var states: [Sidelight_V1_State] = []
    var pipeline = ""
  }

  /// Opens a session, looks at it as an operator does, and goes.
  ///
  /// - Parameter during: Called while the session runs, with its name.
  static func visit(
    _ address: Address, _ open: Sidelight_V1_ClientMessage,
    during: @escaping @Sendable (String) async throws -> Void = { _ in }
  ) async throws -> Visit {
    try await withOperators(address) { operators in
      try await withStub(address) { stub in
        let visit = Mutex(Visit())
        let (received, continuation) = AsyncStream<Void>.makeStream()
        try await stub.process { writer in
          try await writer.write(open)
          var answers = received.makeAsyncIterator()
          await answers.next()
          let id = visit.withLock { $0.id }
          try await during(id)
          try await writer.write(.frame(1, Self.image))
          await answers.next()
          let info = try await operators.listSessions(.init()).sessions.first { $0.sessionID == id }
          visit.withLock { $0.pipeline = info?.pipeline ?? "" }
        } onResponse: { response in
          var isFirst = true
          for try await message in response.messages {
            if isFirst {
              isFirst = false
              guard case .opened? = message.kind else {
                Issue.record("\(message) is first")
                continue
              }
            }
            switch message.kind {
            case .opened(let opened)?:
              visit.withLock {
                $0.id = opened.sessionID
                $0.token = opened.resumeToken
              }
              continuation.yield()
            case .state(let state)?: visit.withLock { $0.states.append(state) }
            case .frame?, .dropped?: continuation.yield()
            default: break
            }
          }
        }
        return visit.withLock { $0 }
      }
    }
  }

  /// - Returns: The changed sessions.
  @discardableResult
  static func override(
    _ id: String, at address: Address, with pipeline: Pipeline?, seconds: Int64 = 60
  ) async throws -> [String] {
    try await withOperators(address) { operators in
      try await operators.overrideSession(
        .with {
          $0.sessionID = id
          if let pipeline { $0.pipeline = Sidelight_V1_Pipeline(pipeline) }
          $0.timeToLive.seconds = seconds
          $0.reason = "privacy"
        }
      ).sessions.map(\.sessionID)
    }
  }

  static func open(
    resuming token: Data = Data(), label: String = ""
  ) -> Sidelight_V1_ClientMessage {
    .open([.filter("sepiaTone")]) {
      $0.resumeToken = token
      $0.label = label
    }
  }

  @Test func `a token from before an override does not end it`() async throws {
    let clock = ManualClock()
    try await withServer(clock: clock.sessionClock) { _, address in
      let first = try await Self.visit(address, Self.open()) { id in
        try await Self.override(id, at: address, with: [.filter("gaussianBlur")])
      }
      let second = try await Self.visit(address, Self.open(resuming: first.token))
      #expect(second.pipeline == "gaussianBlur")
      #expect(second.states.first?.state == .overridden)
      #expect(second.states.first?.message == "privacy")
      clock.advance(by: .seconds(61))
      let third = try await Self.visit(address, Self.open(resuming: first.token))
      #expect(third.pipeline == "sepiaTone")
    }
  }

  @Test func `a session without a token gets the override of its caller and label`() async throws {
    try await withServer { _, address in
      _ = try await Self.visit(address, Self.open(label: "ana")) { id in
        try await Self.override(id, at: address, with: [.filter("gaussianBlur")])
      }
      #expect(try await Self.visit(address, Self.open(label: "ana")).pipeline == "gaussianBlur")
      #expect(try await Self.visit(address, Self.open(label: "ben")).pipeline == "sepiaTone")
      #expect(try await Self.visit(address, Self.open()).pipeline == "sepiaTone")
    }
  }

  static let blur: Pipeline = [.filter("gaussianBlur")]

  @Test func `an override and its end reach the open sessions of the label at once`() async throws {
    try await withServer { _, address in
      _ = try await Self.visit(address, Self.open(label: "ana")) { first in
        for (label, pipeline) in [("ana", "gaussianBlur"), ("ben", "sepiaTone"), ("", "sepiaTone")]
        {
          let other = try await Self.visit(address, Self.open(label: label)) { _ in
            try await Self.override(first, at: address, with: Self.blur)
          }
          #expect(other.pipeline == pipeline, "\(label)")
          try await Self.override(first, at: address, with: nil)
        }
        let second = try await Self.visit(address, Self.open(label: "ana")) { _ in
          try await Self.override(first, at: address, with: Self.blur)
          try await Self.override(first, at: address, with: nil)
        }
        #expect(second.pipeline == "sepiaTone")
        #expect(second.states.last?.state == .running)
      }
    }
  }

  @Test func `the end of an override through another session of the label leaves it there`()
    async throws
  {
    try await withServer { _, address in
      let first = try await Self.visit(address, Self.open(label: "ana")) { first in
        let second = try await Self.visit(address, Self.open(label: "ana")) { second in
          try await Self.override(first, at: address, with: Self.blur)
          let changed = try await Self.override(second, at: address, with: nil)
          #expect(changed == [second])
        }
        #expect(second.pipeline == "sepiaTone")
      }
      #expect(first.pipeline == "gaussianBlur")
    }
  }

  @Test func `the end of a session's override leaves the one of another session's token`()
    async throws
  {
    var configuration = ServerConfiguration()
    configuration.resumeKeys = [ResumeTests.key("a", 1)]
    let token = try await withServer(configuration) { _, address in
      try await Self.visit(address, Self.open(label: "ana")) { id in
        try await Self.override(id, at: address, with: Self.blur)
      }.states.last?.resumeToken
    }
    try await withServer(configuration) { _, address in
      _ = try await Self.visit(address, Self.open(label: "ana")) { first in
        let open = Self.open(resuming: token ?? Data(), label: "ana")
        let second = try await Self.visit(address, open) { _ in
          let changed = try await Self.override(first, at: address, with: nil)
          #expect(changed.isEmpty)
        }
        #expect(second.pipeline == "gaussianBlur")
      }
    }
  }

  @Test func `the token of an earlier session of the label does not end an override`() async throws
  {
    try await withServer { _, address in
      let earlier = try await Self.visit(address, Self.open(label: "ana"))
      let second = try await Self.visit(address, Self.open(label: "ana")) { id in
        try await Self.override(id, at: address, with: Self.blur)
      }
      for token in [earlier.token, second.token] {
        let resumed = try await Self.visit(address, Self.open(resuming: token, label: "ana"))
        #expect(resumed.pipeline == "gaussianBlur")
        #expect(resumed.states.first?.state == .overridden)
      }
      let other = try await Self.visit(address, Self.open(resuming: earlier.token, label: "ben"))
      #expect(other.pipeline == "sepiaTone")
    }
  }

  @Test(arguments: [false, true])
  func `an override that ends first leaves an earlier one of the label`(
    _ isOneLineage: Bool
  ) async throws {
    let clock = ManualClock()
    try await withServer(clock: clock.sessionClock) { _, address in
      var token = Data()
      if isOneLineage {
        _ = try await Self.visit(address, Self.open(label: "ana")) { id in
          try await Self.override(id, at: address, with: Self.blur)
        }
        token = try await Self.visit(address, Self.open(label: "ana")) { id in
          try await Self.override(id, at: address, with: [.filter("pixellate")], seconds: 10)
        }.token
      } else {
        _ = try await Self.visit(address, Self.open(label: "ana")) { first in
          _ = try await Self.visit(address, Self.open(label: "ana")) { second in
            try await Self.override(first, at: address, with: Self.blur)
            try await Self.override(second, at: address, with: [.filter("pixellate")], seconds: 10)
          }
        }
        token = try await Self.visit(address, Self.open(label: "ana")).token
      }
      let opens = [Self.open(label: "ana"), Self.open(resuming: token, label: "ana")]
      for (seconds, pipeline) in [(0, "pixellate"), (11, "gaussianBlur"), (60, "sepiaTone")] {
        clock.advance(by: .seconds(seconds))
        for open in opens {
          #expect(try await Self.visit(address, open).pipeline == pipeline, "\(seconds)")
        }
      }
    }
  }

  @Test func `the end of one session's override leaves those of others of its label`() throws {
    let store = OverrideStore()
    func session(_ label: String = "ana") -> OverrideStore.Session {
      OverrideStore.Session(
        lineage: SessionLineage(), identity: CallerIdentity(caller: "a"), label: label)
    }
    let (first, second) = (session(), session())
    func reason(_ session: OverrideStore.Session, at now: Duration = .zero) -> String {
      switch store.decision(for: session, at: now) {
      case .forced(_, let reason, _)?: reason
      case .lifted?: "lifted"
      case nil: "none"
      }
    }
    func force(_ session: OverrideStore.Session, _ reason: String, _ seconds: Int) throws {
      try store.record(
        .forced([], reason: reason, until: .seconds(seconds)), for: session, at: .zero)
    }
    try force(first, "first", 60)
    try force(second, "second", 30)
    #expect(
      [first, second, session(), session("ben")].map { reason($0) }
        == ["second", "second", "second", "none"])
    try store.lift(second, until: .seconds(30), at: .zero)
    #expect([first, second, session()].map { reason($0) } == ["first", "lifted", "first"])
    // The end lasts as long as the overrides that applied to the session.
    #expect([first, second].map { reason($0, at: .seconds(40)) } == ["first", "lifted"])
    #expect([first, second].map { reason($0, at: .seconds(61)) } == ["none", "none"])
    try force(first, "again", 20)
    #expect([0, 30].map { reason(first, at: .seconds($0)) } == ["again", "first"])
  }

  @Test
  func `an override that was ended early is not restored by a token that contains it`() async throws
  {
    try await withServer { _, address in
      let first = try await Self.visit(address, Self.open(label: "ana")) { id in
        try await Self.override(id, at: address, with: [.filter("gaussianBlur")])
      }
      let token = try #require(first.states.last?.resumeToken)
      let second = try await Self.visit(address, Self.open(resuming: token)) { id in
        try await Self.override(id, at: address, with: nil)
      }
      #expect(second.pipeline == "sepiaTone")
      #expect(try await Self.visit(address, Self.open(resuming: token)).pipeline == "sepiaTone")
      #expect(try await Self.visit(address, Self.open(label: "ana")).pipeline == "sepiaTone")
    }
  }

  @Test
  func `a session is refused if the pipeline of its override is no longer valid`() async throws {
    let black = "LUT_3D_SIZE 2\n" + String(repeating: "0 0 0\n", count: 8)
    let assets = AssetStore(["cover": .cube(try CubeFile.read(Array(black.utf8)))])
    var catalogue = FilterCatalogue.builtIn
    catalogue.assets = assets
    let cover: Pipeline = [.filter("colorCube", ["asset": .text("cover")])]
    try await withServer(catalogue: catalogue) { _, address in
      let first = try await Self.visit(address, Self.open(label: "ana")) { id in
        try await Self.override(id, at: address, with: cover)
      }
      assets.remove(named: "cover")
      for open in [Self.open(resuming: first.token), Self.open(label: "ana")] {
        let error = await #expect(throws: RPCError.self) {
          try await Self.visit(address, open)
        }
        #expect(error?.code == .failedPrecondition)
        #expect(error?.message.contains("cover") == true)
      }
      #expect(try await Self.visit(address, Self.open(label: "ben")).pipeline == "sepiaTone")
    }
  }

  @Test
  func `an override applies to both sessions of a client that has reconnected`() async throws {
    try await withServer { _, address in
      let first = try await Self.visit(address, Self.open())
      _ = try await Self.visit(address, Self.open(resuming: first.token)) { old in
        let new = try await Self.visit(address, Self.open(resuming: first.token)) { _ in
          try await Self.override(old, at: address, with: [.filter("gaussianBlur")])
        }
        #expect(new.pipeline == "gaussianBlur")
      }
    }
  }

  @Test func `the number of stored overrides is limited, and expired ones are removed`() throws {
    let store = OverrideStore()
    func force(until end: Duration, at now: Duration) throws {
      try store.record(
        .forced([], reason: "", until: end),
        for: OverrideStore.Session(
          lineage: SessionLineage(), identity: CallerIdentity(caller: "a"), label: ""), at: now)
    }
    for _ in 0 ..< OverrideStore.capacity { try force(until: .seconds(10), at: .zero) }
    #expect(throws: (any Error).self) { try force(until: .seconds(20), at: .seconds(9)) }
    try force(until: .seconds(20), at: .seconds(10))
  }
}
