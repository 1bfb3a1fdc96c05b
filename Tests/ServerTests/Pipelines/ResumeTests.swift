import Foundation
import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Sessions that go on at another server.
@Suite(.timeLimit(.minutes(5))) struct ResumeTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 16, 12)

  static func configuration(_ keys: [ResumeKey]) -> ServerConfiguration {
    var configuration = ServerConfiguration()
    configuration.resumeKeys = keys
    return configuration
  }

  static func key(_ id: String, _ byte: UInt8) -> ResumeKey {
    ResumeKey(id: id, secret: Data(repeating: byte, count: 32))
  }

  static func converse(
    keys: [ResumeKey], clock: SessionClock = .system, _ messages: [Sidelight_V1_ClientMessage]
  ) async throws -> [Sidelight_V1_ServerMessage] {
    try await withServer(Self.configuration(keys), clock: clock) { _, address in
      try await withStub(address) { stub in try await stub.converse(messages) }
    }
  }

  static func open(resuming token: Data) -> Sidelight_V1_ClientMessage {
    .open([.filter("grayscale")]) { $0.resumeToken = token }
  }

  @Test
  func
    `another server with the key restores the state of the token instead of the pipeline in open`()
    async throws
  {
    let keys = [Self.key("a", 1)]
    let first = try await Self.converse(
      keys: keys,
      [
        .open([Stage(.filter(FilterCall(name: "sepiaTone")), id: "warm")]),
        .with {
          $0.update.stages = [
            .with {
              $0.stage = "warm"
              $0.parameters = ["intensity": .with { $0.number = 0.5 }]
            }
          ]
        },
        .frame(1, Self.image),
      ])
    let token = try #require(first.applied.last?.resumeToken)
    let second = try await Self.converse(
      keys: [Self.key("b", 2)] + keys, [Self.open(resuming: token), .frame(1, Self.image)])
    #expect(second.frames.first?.image == first.frames.first?.image)
    #expect(second.frames.first?.revision == first.frames.first?.revision)
  }

  @Test func `a pause is restored and reported`() async throws {
    let keys = [Self.key("a", 1)]
    let first = try await Self.converse(
      keys: keys, [.open(), .with { $0.pause = .init() }])
    let states = first.compactMap { message in
      if case .state(let state)? = message.kind { state.resumeToken } else { nil }
    }
    let token = try #require(states.last)
    let second = try await Self.converse(
      keys: keys, [Self.open(resuming: token), .frame(1, Self.image)])
    #expect(second.states.first == .paused)
    #expect(second.dropRuns.map(\.reason) == [.paused])
  }

  @Test func `an invalid token is refused as expired or as foreign`() async throws {
    let clock = ManualClock()
    let keys = [Self.key("a", 1)]
    let first = try await Self.converse(keys: keys, clock: clock.sessionClock, [.open()])
    let token = try #require(first.first?.opened.resumeToken)
    for (keys, advance, words) in [
      ([Self.key("a", 2)], Duration.zero, "not one of this server's"),
      ([], .zero, "not one of this server's"), (keys, .seconds(301), "expired"),
    ] {
      clock.advance(by: advance)
      let error = await #expect(throws: RPCError.self) {
        try await Self.converse(
          keys: keys, clock: clock.sessionClock, [Self.open(resuming: token)])
      }
      #expect(error?.code == .failedPrecondition)
      #expect(error?.message.contains(words) == true)
    }
  }

  @Test func `a client gets a new token after half of the old one's lifetime`() async throws {
    let clock = ManualClock()
    let tokens = Answers()
    var configuration = Self.configuration([Self.key("a", 1)])
    // Only the session waits on the clock.
    configuration.releaseMemoryAfter = nil
    try await withServer(configuration, clock: clock.sessionClock) { _, address in
      try await withStub(address) { stub in
        let (turns, turn) = AsyncStream<Void>.makeStream()
        try await stub.process { writer in
          var iterator = turns.makeAsyncIterator()
          try await writer.write(.open())
          await iterator.next()
          await clock.awaited(within: .seconds(150))
          clock.advance(by: .seconds(150))
          await iterator.next()
        } onResponse: { response in
          for try await message in response.messages {
            tokens.add(message)
            turn.yield()
          }
        }
      }
    }
    let states = tokens.messages.compactMap { message in
      if case .state(let state)? = message.kind { state } else { nil }
    }
    let state = try #require(states.first)
    #expect(state.state == .running)
    #expect(!state.resumeToken.isEmpty)
    #expect(state.resumeToken != tokens.messages.first?.opened.resumeToken)
  }
}
