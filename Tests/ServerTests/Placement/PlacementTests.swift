import GRPCCore
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// The order of a fleet's servers.
@Suite struct PlacementTests {
  static func peers(_ loads: [Double]) -> [Placement.Peer] {
    loads.enumerated().map { index, load in
      Placement.Peer(address: "10.0.0.\(index + 1):50051", load: load)
    }
  }

  static let keys = (0 ..< 10_000).map { "room \($0)" }

  @Test(arguments: [[0.1, 0.5, 0.9], [0.05, 0.3, 0.3, 0.62], [0.4, 0.4]])
  func `servers get sessions in inverse proportion to their load`(loads: [Double]) {
    let peers = Self.peers(loads)
    let counts = Self.keys.reduce(into: [String: Int]()) { counts, key in
      counts[Placement.order(peers, for: key, isGroup: false)[0].address, default: 0] += 1
    }
    let total = loads.reduce(0) { $0 + 1 / $1 }
    for peer in peers {
      let share = Double(counts[peer.address] ?? 0) / Double(Self.keys.count)
      let expected = 1 / peer.load / total
      #expect(abs(share / expected - 1) < 0.15, "\(peer): \(share), expected \(expected)")
    }
  }

  @Test func `one more server takes over its share of the groups, and no others move`() {
    let before = Self.peers([0.3, 0.3, 0.3])
    let after = Self.peers([0.3, 0.3, 0.3, 0.3])
    func first(_ peers: [Placement.Peer], _ group: String) -> Placement.Peer {
      Placement.order(peers, for: group, isGroup: true)[0]
    }
    let moved = Self.keys.filter { first(before, $0) != first(after, $0) }
    #expect(moved.allSatisfy { first(after, $0) == after[3] })
    #expect(Double(moved.count) <= 1.5 / 4 * Double(Self.keys.count))
    #expect(!moved.isEmpty)
  }

  @Test(arguments: [[0.31, 0.41, 0.49], [0.05, 0.79, 0.6]])
  func `servers that have read different loads agree on the order for a group`(loads: [Double]) {
    let one = Self.peers([0.30, 0.40, 0.50])
    let other = Array(Self.peers(loads).reversed())
    for group in Self.keys.prefix(1000) {
      #expect(
        Placement.order(one, for: group, isGroup: true).map(\.address)
          == Placement.order(other, for: group, isGroup: true).map(\.address))
    }
  }

  @Test func `servers that the session would overload come last`() {
    let peers = Self.peers([0.9, 0.2, 0.85])
    for key in Self.keys.prefix(100) {
      #expect(Placement.order(peers, for: key, isGroup: false, cost: 0.2)[0] == peers[1])
      #expect(Placement.order(peers, for: key, isGroup: true)[0] == peers[1])
    }
  }
}

/// `Place` of a real server, which reads the loads of real servers.
@Suite(.timeLimit(.minutes(5))) struct PlaceTests {
  static func place(
    _ address: Address, _ configure: (inout Sidelight_V1_PlaceRequest) -> Void = { _ in }
  ) async throws -> Sidelight_V1_PlaceResponse {
    var request = Sidelight_V1_PlaceRequest()
    configure(&request)
    return try await withStub(address) { [request] in try await $0.place(request) }
  }

  @Test func `a server names the servers that report, by a name or an address, and no others`()
    async throws
  {
    try await withServer { _, first in
      try await withServer { _, second in
        guard case .tcp(_, let port) = second else { return }
        var configuration = ServerConfiguration()
        let closed = Address.tcp(host: "127.0.0.1", port: 1)
        configuration.placement.peers = [first, .tcp(host: "localhost", port: port), closed]
        try await withServer(configuration) { _, address in
          try await expectEventually("both report") {
            let response = try? await Self.place(address) { $0.group = "room" }
            // The name may have an IPv6 address, too, at which nothing listens.
            return Set(response?.addresses ?? []) == [first.description, second.description]
          }
          let responses = try await (0 ..< 10).asyncMap { _ in
            try await Self.place(address) { $0.group = "room" }
          }
          #expect(Set(responses.map(\.addresses)).count == 1)
          #expect(responses[0].timeToLive.seconds == 10)
          // Without a group, every call has its own order.
          let others = try await (0 ..< 20).asyncMap { _ in
            try await Self.place(address).addresses[0]
          }
          #expect(Set(others).count == 2)
        }
      }
    }
  }

  @Test func `a server without a fleet, or whose fleet is silent, refuses`() async throws {
    try await withServer { _, address in
      let error = await #expect(throws: RPCError.self) { try await Self.place(address) }
      #expect(error?.code == .failedPrecondition)
      #expect(error?.message.contains("fleet.peers") == true)
    }
    var configuration = ServerConfiguration()
    configuration.placement.peers = [.tcp(host: "127.0.0.1", port: 1)]
    try await withServer(configuration) { _, address in
      let error = await #expect(throws: RPCError.self) { try await Self.place(address) }
      #expect(error?.code == .unavailable)
    }
  }

  @Test func `invalid requests name the field`() async throws {
    try await withServer { _, address in
      let long = String(repeating: "x", count: 129)
      for (field, configure): (String, @Sendable (inout Sidelight_V1_PlaceRequest) -> Void) in [
        ("group", { $0.group = long }), ("participant", { $0.participant = long }),
        ("cost", { $0.cost = 1.5 }), ("cost", { $0.cost = .nan }),
      ] {
        let error = try await ErrorParts.of { try await Self.place(address, configure) }
        #expect(error.code == .invalidArgument)
        #expect(error.field == field)
      }
      // The group of a session is in the metadata of its call.
      let error = await #expect(throws: RPCError.self) {
        try await withStub(address) { stub in
          try await stub.process(metadata: [SessionGroup.metadataKey: "\(long)"]) {
            try await $0.write(.open())
          } onResponse: {
            for try await _ in $0.messages {}
          }
        }
      }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message.contains(SessionGroup.metadataKey) == true)
    }
  }
}

extension Sequence {
  fileprivate func asyncMap<Result>(
    _ transform: (Element) async throws -> Result
  ) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
