import GRPCCore
import SidelightClient
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// The number of connections of a client's sessions.
@Suite(.timeLimit(.minutes(5))) struct SharedConnectionTests {
  /// Opens nested sessions, sends a frame in all of them, and returns the client's ports.
  static func ports(
    _ client: SidelightClient, _ address: Address, sessions count: Int
  ) async throws -> Set<String> {
    guard count > 0 else {
      return try await withOperators(address) {
        Set(try await $0.listSessions(.init()).sessions.map(\.peer))
      }
    }
    return try await client.withSession { session in
      await session.send(VideoFrame(try picture(seed: UInt64(count))))
      for try await outcome in session.outcomes {
        #expect(outcome.picture != nil)
        break
      }
      return try await Self.ports(client, address, sessions: count - 1)
    }
  }

  @Test(
    arguments: [(nil, 6), (1, 1), (2, 2), (4, 4), (16, 6)] as [(Int?, Int)])
  func `the sessions of a client use the configured number of connections`(
    connections: Int?, expected: Int
  ) async throws {
    try await withServer { server, address in
      var transport = TransportConfiguration()
      transport.connections = connections
      let ports = try await SidelightClient.connect(to: address, transport: transport) {
        try await Self.ports($0, address, sessions: 6)
      }
      #expect(ports.count == expected)
      try await expectEventually("all sessions are over") { server.sessionCount == 0 }
    }
  }
}
