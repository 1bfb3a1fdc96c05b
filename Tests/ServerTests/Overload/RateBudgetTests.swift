import SidelightServer
import SidelightTestSupport
import Testing

/// Tests of rates that the servers of a fleet share.
@Suite struct RateBudgetTests {
  /// A server with a budget, which wants a number of frames per second.
  private struct Server {
    var budget: RateBudget
    var wanted: Double
    var due = 0.0
    var published: QuotaUse.Rate?
    var taken: [Int] = []
    var exchanges = 0

    mutating func serve(_ step: Duration, until now: Duration) {
      self.due += self.wanted * (step / .seconds(1))
      while self.due >= 1 {
        self.due -= 1
        self.budget.offer(1)
        guard self.budget.delay(for: 1, at: now) == .zero else { continue }
        self.budget.take(1)
        self.taken[self.taken.count - 1] += 1
      }
    }
  }

  private static let limit = 60.0

  /// Runs servers that exchange their use when sessions begin and end, when they lack a share, and
  /// once a second, each at another moment.
  ///
  /// - Parameter wanted: Returns the frames per second that a server wants in a second.
  /// - Returns: The frames of each by second, and the number of exchanges.
  private static func run(
    servers count: Int, seconds: Int, wanted: (_ server: Int, _ second: Int) -> Double
  ) -> (taken: [[Int]], exchanges: Int) {
    var servers = (0 ..< count).map { _ in
      Server(budget: RateBudget(perSecond: Self.limit, at: .zero), wanted: 0)
    }
    for step in 0 ..< 10 * seconds {
      let now = Duration.milliseconds(100 * (step + 1))
      for index in servers.indices {
        if step % 10 == 0 {
          servers[index].wanted = wanted(index, step / 10)
          servers[index].taken.append(0)
        }
        let isShort = step % 2 == 0 && servers[index].budget.isShort
        if step % 10 == 0 || step % 10 == 3 * index % 10 || isShort {
          let others = servers.indices.filter { $0 != index }.compactMap { servers[$0].published }
          servers[index].published = servers[index].budget.use(
            with: others, sessions: servers[index].wanted > 0 ? 1 : 0, at: now)
          servers[index].budget.divide(with: others, at: now)
          servers[index].exchanges += 1
        }
        servers[index].serve(.milliseconds(100), until: now)
      }
    }
    return (servers.map(\.taken), servers.reduce(0) { $0 + $1.exchanges })
  }

  private static func sums(_ taken: [[Int]]) -> [Int] {
    taken[0].indices.map { second in taken.reduce(0) { $0 + $1[second] } }
  }

  @Test(arguments: [(20.0, 20.0, 20.0), (60, 60, 60), (30, 5, 0), (200, 10, 10), (1, 1, 1000)])
  func `the servers together never exceed the limit and leave little of it`(
    wanted: (Double, Double, Double)
  ) {
    let wanted = [wanted.0, wanted.1, wanted.2]
    let taken = Self.run(servers: 3, seconds: 20) { server, _ in wanted[server] }.taken
    let sums = Self.sums(taken)
    // A burst may have the frames of one second.
    for first in sums.indices {
      let sum = sums[first...].reduce(0, +)
      #expect(Double(sum) <= Self.limit * Double(sums.count - first + 1) * 1.01 + 1)
    }
    let expected = min(Self.limit, wanted.reduce(0, +))
    #expect(Double(sums.suffix(10).reduce(0, +)) >= 0.9 * 10 * expected)
  }

  @Test func `demand that moves from server to server moves the shares`() {
    let taken = Self.run(servers: 3, seconds: 30) { server, second in
      second / 10 == server ? 50 : 0
    }.taken
    #expect(Self.sums(taken).allSatisfy { Double($0) <= 2 * Self.limit })
    for server in 0 ..< 3 {
      #expect(taken[server][(10 * server + 2) ..< 10 * (server + 1)].allSatisfy { $0 >= 45 })
    }
  }

  @Test func `servers whose shares cannot grow exchange less often`() {
    let (taken, exchanges) = Self.run(servers: 3, seconds: 60) { _, _ in 200 }
    #expect(taken.allSatisfy { $0.suffix(50).allSatisfy { (18 ... 22).contains($0) } })
    // Two a second without a lack of share; five more with one.
    #expect(exchanges <= 3 * 60 * 3)
  }

  @Test func `without the others, a server takes an equal share`() {
    var budget = RateBudget(perSecond: 60, at: .zero)
    let other = QuotaUse.Rate(demand: 60, share: 59)
    _ = budget.use(with: [other], at: .zero)
    budget.divide(with: [other], at: .zero)
    budget.take(1)
    budget.takeEqualShare(among: 2, at: .zero)
    #expect(budget.delay(for: 30, at: .zero) > .milliseconds(900))
    #expect(budget.delay(for: 30, at: .seconds(1)) == .zero)
    // A larger share stays.
    budget.takeEqualShare(among: 4, at: .seconds(1))
    #expect(budget.delay(for: 30, at: .seconds(1)) == .zero)
  }
}
