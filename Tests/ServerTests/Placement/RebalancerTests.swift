import SidelightServer
import Testing

/// The choice of the sessions that leave a hot server.
@Suite struct RebalancerTests {
  static let peers = [
    Placement.Peer(address: "a:1", load: 0.2), Placement.Peer(address: "b:1", load: 0.7),
  ]

  static func sessions(_ count: Int, work: Double = 0.01) -> [Rebalancer.Session] {
    (0 ..< count).map {
      Rebalancer.Session(number: UInt64($0), age: .seconds(300), work: work)
    }
  }

  /// The moves of each second.
  static func moves(
    seconds: Range<Int>, load: Double = 0.9, _ sessions: [Rebalancer.Session],
    peers: [Placement.Peer] = peers, _ rebalancer: inout Rebalancer
  ) -> [Int: [Rebalancer.Move]] {
    seconds.reduce(into: [:]) { result, second in
      let moves = rebalancer.step(
        load: load, sessions: sessions, peers: peers, at: .seconds(second))
      if !moves.isEmpty { result[second] = moves }
    }
  }

  @Test(arguments: [(100, 5), (10, 1), (39, 1), (40, 2)])
  func `one in twenty sessions, at least one, moves a minute, after 20 s of a high load`(
    count: Int, expected: Int
  ) {
    var rebalancer = Rebalancer(.init())
    let moves = Self.moves(seconds: 0 ..< 130, Self.sessions(count), &rebalancer)
    #expect(moves.keys.sorted() == [20, 80])
    #expect(moves.values.allSatisfy { $0.count == expected })
    #expect(moves.values.joined().allSatisfy { $0.address == "a:1" }, "b has no room")
  }

  @Test func `a short peak moves no session`() {
    var rebalancer = Rebalancer(.init())
    for start in stride(from: 0, to: 200, by: 20) {
      #expect(Self.moves(seconds: start ..< start + 19, Self.sessions(9), &rebalancer).isEmpty)
      let calm = Self.moves(
        seconds: start + 19 ..< start + 20, load: 0.8, Self.sessions(9), &rebalancer)
      #expect(calm.isEmpty)
    }
  }

  @Test(arguments: [[], [0.6], [0.65, 0.95]]) func `sessions stay while others have no room`(
    loads: [Double]
  ) {
    var rebalancer = Rebalancer(.init())
    let peers = loads.map { Placement.Peer(address: "\($0)", load: $0) }
    let moves = Self.moves(seconds: 0 ..< 100, Self.sessions(50), peers: peers, &rebalancer)
    #expect(moves.isEmpty)
  }

  @Test func `costly sessions move first, unless they would make the other server hot`() {
    var sessions = Self.sessions(3)
    sessions[0].work = 0.6
    sessions[1].work = 0.3
    var rebalancer = Rebalancer(.init())
    let moves = Self.moves(seconds: 0 ..< 21, sessions, &rebalancer)
    #expect(moves[20]?.map(\.number) == [1])
  }

  @Test func `sessions stay that are new or idle, cannot move, or have a group`() {
    var sessions = Self.sessions(5)
    sessions[0].age = .seconds(59)
    sessions[1].work = 0
    sessions[2].canMove = false
    sessions[4].group = "room 7"
    var rebalancer = Rebalancer(.init())
    let moves = Self.moves(seconds: 0 ..< 21, sessions, &rebalancer)
    #expect(moves[20]?.map(\.number) == [3])
  }

  /// The number of sessions that each peer gets when the server drains.
  static func drain(_ sessions: [Rebalancer.Session], to peers: [Placement.Peer]) -> [String: Int] {
    Rebalancer.drain(sessions, to: peers, limits: .init()).reduce(into: [:]) {
      $0[$1.address, default: 0] += 1
    }
  }

  @Test(
    arguments: [
      // The old server has the lower load, as its sessions are known for longer.
      ([(0.05, 20), (0.2, 4)], 0, ["1": 20]), ([(0.05, 11), (0.06, 9)], 0, ["1": 20]),
      ([(0.05, 10), (0.05, 10)], 0, ["0": 10, "1": 10]),
      ([(0.05, nil), (0.05, nil)], 0, ["0": 10, "1": 10]),
      ([(0.3, 10), (0.3, 10)], 0.01, ["0": 10, "1": 10]),
      ([(0.2, 10), (0.4, 10)], 0.01, ["0": 20]),
      // A new server takes what it can, without becoming hot.
      ([(0.3, 20), (0.05, 0)], 0.049, ["0": 7, "1": 13]),
      ([(0.8, 20), (1.5, 0)], 0.01, ["0": 20]),
      ([], 0, [:]),
    ] as [([(Double, Int?)], Double, [String: Int])])
  func `sessions of a server that drains go to a new one, else to the least loaded`(
    loads: [(Double, Int?)], work: Double, expected: [String: Int]
  ) {
    let peers = loads.enumerated().map {
      Placement.Peer(address: "\($0)", load: $1.0, sessions: $1.1)
    }
    #expect(Self.drain(Self.sessions(20, work: work), to: peers) == expected)
  }

  @Test func `groups stay together, and sessions that cannot move get no server`() {
    let peers = (0 ..< 3).map { Placement.Peer(address: "\($0)", load: 0.1, sessions: 9) }
    var sessions = Self.sessions(20)
    for index in 0 ..< 10 { sessions[index].group = "room" }
    for index in 10 ..< 20 { sessions[index].canMove = false }
    let place = Placement.order(peers, for: "room", isGroup: true)[0].address
    #expect(Self.drain(sessions, to: peers) == [place: 10])
  }

  @Test func `an update moves a session at most twice`() {
    for count in 2 ... 6 {
      // The sessions of each server, by their number of moves.
      var servers = Array(repeating: Array(repeating: 0, count: 12), count: count)
      for drained in servers.indices {
        let moved = servers[drained]
        servers[drained] = []
        let peers = servers.indices.filter { $0 != drained }.map {
          Placement.Peer(address: "\($0)", load: 0.05, sessions: servers[$0].count)
        }
        for move in Rebalancer.drain(
          Self.sessions(moved.count, work: 0.002), to: peers, limits: .init())
        {
          servers[Int(move.address)!].append(moved[Int(move.number)] + 1)
        }
      }
      #expect(servers.joined().count == 12 * count)
      #expect(servers.joined().max()! <= 2, "\(servers)")
    }
  }
}

/// The load that a server reports.
@Suite struct ReportedLoadTests {
  static func load(_ work: Double, _ sessions: [(seconds: Int, work: Double)]) -> Double {
    ReportedLoad(
      work: work,
      sessions: sessions.map { .init(age: .seconds($0.seconds), work: $0.work) }
    ).value
  }

  @Test func `an idle server has a load, so it does not get every session`() {
    #expect(Self.load(0, []) == 0.05)
    #expect(Self.load(0.4, []) == 0.4)
    #expect(Self.load(1.5, []) == 1.5)
  }

  @Test func `a new session counts as much as the others' mean, until its work is known`() {
    let settled = [(60, 0.1), (60, 0.3)]
    #expect(Self.load(0.4, settled) == 0.4)
    #expect(abs(Self.load(0.4, settled + [(1, 0)]) - 0.6) < 1e-9)
    #expect(abs(Self.load(0.45, settled + [(4, 0.05)]) - 0.6) < 1e-9)
    #expect(Self.load(0.45, [(60, 0.1), (60, 0.3), (5, 0.05)]) == 0.45)
    #expect(Self.load(0.9, settled + [(1, 0.5)]) == 0.9, "it has more than the mean")
  }

  @Test func `new sessions of an idle server have a usual load`() {
    #expect(Self.load(0, (0 ..< 64).map { _ in (0, 0) }) == 1)
  }
}
