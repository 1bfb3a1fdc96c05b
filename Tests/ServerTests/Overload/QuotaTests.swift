import GRPCCore
import GRPCProtobuf
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Tests of the limits on one caller, using a clock that the tests move.
@Suite(.timeLimit(.minutes(5))) struct QuotaTests {
  let clock = ManualClock()

  private static func frames(_ count: UInt64) -> [Sidelight_V1_ClientMessage] {
    (1 ... count).map { .frame($0, .noise(.gray8, 10, 10)) }
  }

  private static func configuration(
    _ configure: (inout Quotas) -> Void
  ) -> ServerConfiguration {
    var configuration = ServerConfiguration()
    configure(&configuration.quotas)
    return configuration
  }

  /// The outcomes of the frames.
  private static func outcomes(_ answers: [Sidelight_V1_ServerMessage]) -> [Bool] {
    answers.flatMap { message -> [Bool] in
      switch message.kind {
      case .frame?: [true]
      case .dropped(let run)?:
        Array(repeating: run.reason != .rateLimited, count: Int(run.count))
      default: []
      }
    }
  }

  @Test
  func `frames beyond the rate are dropped with RATE_LIMITED, and the session continues`()
    async throws
  {
    let clock = self.clock
    try await withServer(
      Self.configuration { $0.framesPerSecond = 2 }, clock: clock.sessionClock
    ) { _, address in
      try await withStub(address) { stub in
        let answers = try await stub.converseInTurn(
          .open(policy: .newestWins), Self.frames(8),
          before: { index in
            // A second passes before the sixth: two more.
            if index == 5 { clock.advance(by: .seconds(1)) }
          })
        #expect(
          Self.outcomes(answers) == [true, true, false, false, false, true, true, false])
        let stats = answers.finalStats
        #expect(stats?.received == 8)
        #expect(stats?.outcomes == 8)
        #expect(stats?.dropped.first { $0.reason == .rateLimited }?.count == 4)
      }
    }
  }

  @Test
  func `frames beyond the byte rate are dropped; a frame larger than the burst passes alone`()
    async throws
  {
    let clock = self.clock
    try await withServer(
      Self.configuration { $0.bytesPerSecond = 50 }, clock: clock.sessionClock
    ) { _, address in
      try await withStub(address) { stub in
        // A frame has 100 bytes: two seconds' worth, and one more second before the next.
        let answers = try await stub.converseInTurn(
          .open(policy: .newestWins), Self.frames(6),
          before: { index in if index > 0 { clock.advance(by: .seconds(1)) } })
        #expect(Self.outcomes(answers) == [true, false, true, false, true, false])
      }
    }
  }

  @Test func `with never drop the rate delays a session, and no frame is lost`() async throws {
    let clock = self.clock
    let began = clock.now
    try await withServer(
      Self.configuration { $0.framesPerSecond = 2 }, clock: clock.sessionClock
    ) { _, address in
      let answers = try await clock.ticking(by: .milliseconds(500)) {
        try await withStub(address) { try await $0.converse([.open()] + Self.frames(8)) }
      }
      #expect(answers.frames.count == 8)
    }
    // Two at once, then one per half second.
    #expect(clock.now - began >= .seconds(3))
  }

  @Test
  func `all sessions of a caller share its limits, and other callers have their own`() async throws
  {
    let clock = self.clock
    try await withServer(
      Self.configuration { $0.framesPerSecond = 3 }, authenticator: TokenTable.three,
      clock: clock.sessionClock
    ) { _, address in
      func send(as token: String) async throws -> Int {
        // A separate connection, which shows that the limit does not count connections.
        try await withStub(address) { stub in
          try await stub.process(metadata: AuthenticationTests.bearer(token)) { writer in
            try await writer.write(.open(policy: .keepOldest) { $0.mailboxDepth = 4 })
            for message in Self.frames(2) { try await writer.write(message) }
          } onResponse: {
            Self.outcomes(try await $0.messages.reduce(into: []) { $0.append($1) })
              .count { $0 }
          }
        }
      }
      for (caller, expected) in [("alice", 2), ("alice", 1), ("bob", 2)] {
        let count = try await send(as: caller)
        #expect(count == expected, "\(caller)")
      }
    }
  }

  @Test
  func `still images count against the rate, and are refused with the limit and a delay`()
    async throws
  {
    let clock = self.clock
    try await withServer(
      Self.configuration { $0.framesPerSecond = 1 }, clock: clock.sessionClock
    ) { _, address in
      try await withStub(address) { stub in
        let request = Sidelight_V1_ApplyRequest.with { $0.image = .noise(.gray8, 4, 4) }
        _ = try await stub.apply(request)
        let error = await #expect(throws: RPCError.self) { _ = try await stub.apply(request) }
        #expect(error?.code == .resourceExhausted)
        let details = try error?.unpackGoogleRPCStatus()?.details ?? []
        let violation = details.compactMap(\.quotaFailure).first?.violations.first
        #expect(violation?.subject == "ipv4:127.0.0.1")
        #expect(violation?.violationDescription == "frames_per_second is 1.0")
        #expect(details.compactMap(\.retryInfo).first?.delay == .seconds(1))
        clock.advance(by: .seconds(1))
        _ = try await stub.apply(request)
      }
    }
  }

  @Test func `a fleet shares a limited number of a caller's participants, those with the most use`()
    async throws
  {
    try await withServer(
      Self.configuration { $0.participant.framesPerSecond = 10 }, clock: self.clock.sessionClock
    ) { server, address in
      try await withStub(address) { stub in
        for index in 0 ..< 516 {
          let request = Sidelight_V1_ApplyRequest.with {
            $0.image = .noise(.gray8, 4, 4)
            $0.participant = "invented \(index % 514)"
          }
          _ = try await stub.apply(request)
        }
      }
      let (use, leftOut) = server.sharedState.use(of: "ipv4:127.0.0.1")
      #expect(use.participants?.count == 512)
      #expect(leftOut == 2)
      #expect(use.participants?["invented 0"] != nil)
      #expect(use.participants?["invented 1"] != nil)
    }
  }

  @Test func `sessions count by authenticated identity, across addresses`() async throws {
    try await withServer(
      Self.configuration { $0.sessions = 1 }, authenticator: TokenTable.three
    ) { server, address in
      try await withStub(address) { stub in
        try await stub.whileOpen(metadata: AuthenticationTests.bearer("alice")) { _ in
          let process = AuthenticationTests.methods[0]
          for (token, code) in [("alice", .resourceExhausted), ("bob", nil)]
            as [(String, RPCError.Code?)]
          {
            let refusal = try await withConnection(address) {
              try await AuthenticationTests.refusal(
                process, $0, AuthenticationTests.bearer(token))
            }
            #expect(refusal?.code == code)
          }
        }
      }
    }
  }

  @Test(arguments: [0, -1, .nan, .infinity])
  func `a server with limits out of range does not start`(limit: Double) async throws {
    var configuration = Self.configuration { $0.framesPerSecond = limit }
    configuration.addresses = [.tcp(host: "127.0.0.1", port: 0)]
    let server = SidelightServer(configuration: configuration)
    let error = await #expect(throws: ConfigurationError.self) { try await server.run() }
    #expect(error?.setting == "quotas.framesPerSecond")
  }
}
