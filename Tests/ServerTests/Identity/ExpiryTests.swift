import GRPCCore
import GRPCProtobuf
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Credentials that expire, and rights that outlive a connection, using a clock that the tests
/// move.
@Suite(.timeLimit(.minutes(5))) struct ExpiryTests {
  let clock = ManualClock()

  /// The time since 1970 when the test begins.
  private var now: Duration {
    .nanoseconds(Int64(clamping: self.clock.sessionClock.nanosecondsSince1970()))
  }

  private func table(expiresIn: Duration) -> TokenTable {
    TokenTable([
      "alice": Principal(
        name: "sub:alice@test", scopes: .all, expires: self.now + expiresIn)
    ])
  }

  @Test func `a session ends when the token of its call expires, and not before`() async throws {
    let clock = self.clock
    try await withServer(
      authenticator: self.table(expiresIn: .seconds(8000)), clock: clock.sessionClock
    ) { server, address in
      try await withStub(address) { stub in
        let answers = Answers()
        let (outcomes, outcome) = AsyncStream<Void>.makeStream()
        let error = await #expect(throws: RPCError.self) {
          try await stub.process(metadata: AuthenticationTests.bearer("alice")) { writer in
            try await writer.write(.open())
            var iterator = outcomes.makeAsyncIterator()
            // Almost the whole lifetime, in steps without sleeping.
            for sequence in 1 ... 4 as ClosedRange<UInt64> {
              try await writer.write(.frame(sequence, .noise(.gray8, 4, 4)))
              await iterator.next()
              clock.advance(by: .seconds(1999))
            }
            await clock.awaited(within: .seconds(4))
            clock.advance(by: .seconds(4))
            for await _ in answers.ended {}
          } onResponse: { response in
            defer { answers.end() }
            for try await message in response.messages {
              answers.add(message)
              if case .frame? = message.kind { outcome.yield() }
            }
          }
        }
        #expect(error?.code == .unauthenticated)
        let info = try error?.unpackGoogleRPCStatus()?.details.compactMap(\.errorInfo).first
        #expect(info?.reason == "CREDENTIALS_EXPIRED")
        #expect(answers.messages.frames.count == 4)
        try await expectEventually("the session has ended") { server.sessionCount == 0 }
        // A token that has expired is not valid for another call.
        let again = await #expect(throws: RPCError.self) {
          _ = try await stub.getServerInfo(
            .init(), metadata: AuthenticationTests.bearer("alice"))
        }
        #expect(again?.code == .unauthenticated)
      }
    }
  }

  @Test func `a watch ends when its token expires`() async throws {
    let clock = self.clock
    try await withServer(
      authenticator: self.table(expiresIn: .seconds(60)), clock: clock.sessionClock
    ) { _, address in
      let error = await #expect(throws: RPCError.self) {
        try await withConnection(address) { connection in
          try await Sidelight_V1_Sessions.Client(wrapping: connection).watchSessions(
            .init(), metadata: AuthenticationTests.bearer("alice")
          ) { response in
            // Time passes whenever the server waits, and never before it does.
            try await clock.ticking(by: .seconds(20)) {
              for try await _ in response.messages {}
            }
          }
        }
      }
      #expect(error?.code == .unauthenticated)
    }
  }

  @Test func `an expiry in the year 9999 is waited for in steps`() async throws {
    let table = TokenTable([
      "alice": Principal(
        name: "sub:alice@test", scopes: .all, expires: .seconds(253_402_300_799))
    ])
    try await withServer(authenticator: table) { _, address in
      try await withStub(address) { stub in
        let answers = try await stub.process(metadata: AuthenticationTests.bearer("alice")) {
          try await $0.write(.open())
        } onResponse: {
          try await $0.messages.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.finalStats != nil)
      }
    }
  }

  @Test func `a resume token is valid only for the caller that it was issued to`() async throws {
    try await withServer(authenticator: TokenTable.three) { _, address in
      try await withStub(address) { stub in
        func open(
          as token: String, resuming resumeToken: [UInt8]?
        ) async throws -> Sidelight_V1_Opened? {
          try await stub.process(metadata: AuthenticationTests.bearer(token)) { writer in
            try await writer.write(
              .open([.filter("sepiaTone")]) { open in
                guard let resumeToken else { return }
                open.pipelineSource = nil
                open.resumeToken = .init(resumeToken)
              })
          } onResponse: { response in
            var opened: Sidelight_V1_Opened?
            for try await message in response.messages {
              if case .opened(let message)? = message.kind { opened = message }
            }
            return opened
          }
        }
        let given = try #require(try await open(as: "alice", resuming: nil))
        let token = [UInt8](given.resumeToken)
        #expect(!token.isEmpty)
        let error = await #expect(throws: RPCError.self) {
          _ = try await open(as: "bob", resuming: token)
        }
        #expect(error?.code == .failedPrecondition)
        #expect(try await open(as: "alice", resuming: token) != nil)
      }
    }
  }
}
