import SidelightWire
import Synchronization

/// The use of a caller's quotas at one server, as the servers of a fleet exchange it.
package struct QuotaUse: Sendable, Hashable, Codable {
  /// The use of a rate.
  package struct Rate: Sendable, Hashable, Codable {
    /// The amount per second that arrived.
    package var demand: Double
    /// The part of the limit that the server may use.
    package var share: Double
    /// The number of sessions among which it is divided, at least 1.
    package var weight: Double

    package init(demand: Double, share: Double, weight: Double = 1) {
      self.demand = demand
      self.share = share
      self.weight = weight
    }
  }

  /// The open and opening sessions.
  package var sessions: Int
  /// The frames, if their rate is limited.
  package var frames: Rate?
  /// The bytes of frames, if their rate is limited.
  package var bytes: Rate?
  /// The use of the caller's participants by name, if they have limits.
  package var participants: [String: QuotaUse]?

  package init(sessions: Int = 0) {
    self.sessions = sessions
  }

  /// Whether it uses nothing.
  package var isEmpty: Bool {
    self.sessions == 0 && [self.frames, self.bytes].allSatisfy { ($0?.demand ?? 0) == 0 }
  }
}

/// Exchanges overrides and the use of quotas with the other servers of a fleet.
package protocol FleetExchange: Sendable {
  /// Publishes the use of a caller, and reads the other servers' use
  /// (``SharedState/exchange(_:of:with:)``). Returns after a time limit, or at once while the
  /// others cannot be reached.
  func exchange(_ caller: String) async
  /// Publishes the use of a caller soon.
  func note(_ caller: String)
  /// Waits until this server's decisions about overrides are stored for the other servers, at most
  /// one second.
  ///
  /// - Returns: Whether they are.
  func shareOverrides() async -> Bool
}

/// The use of quotas at the other servers of a fleet: empty without a fleet, and the last known one
/// for some time while they cannot be reached.
package final class FleetQuotas: Sendable {
  private struct State {
    var exchange: (any FleetExchange)?
    var others: [String: [QuotaUse]] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  /// Whether the server belongs to a fleet.
  var isJoined: Bool { self.state.withLock { $0.exchange != nil } }

  /// Connects the server to a fleet.
  func join(_ exchange: any FleetExchange) { self.state.withLock { $0.exchange = exchange } }

  /// Returns whether a caller's quotas hold for the fleet. The users of Unix sockets have equal
  /// names on all hosts, and are different callers.
  static func isShared(_ caller: String) -> Bool { !caller.hasPrefix("unix:") }

  /// Publishes the use of a caller, and waits for the other servers' use.
  func exchange(_ caller: String) async {
    guard Self.isShared(caller) else { return }
    await self.state.withLock(\.exchange)?.exchange(caller)
  }

  /// Waits for the other servers' use of a caller, unless it is known.
  func prepare(_ caller: String) async {
    if !self.knows(caller) { await self.exchange(caller) }
  }

  /// Publishes the use of a caller soon.
  func note(_ caller: String) {
    guard Self.isShared(caller) else { return }
    self.state.withLock(\.exchange)?.note(caller)
  }

  /// Waits until this server's decisions about overrides are stored for the other servers, at most
  /// one second.
  ///
  /// - Returns: Whether they are, or the server has no fleet.
  func shareOverrides() async -> Bool {
    await self.state.withLock(\.exchange)?.shareOverrides() ?? true
  }

  /// The callers whose use at the other servers is known.
  var callers: [String] { self.state.withLock { Array($0.others.keys) } }

  /// Whether the other servers' use of a caller is known.
  func knows(_ caller: String) -> Bool { self.state.withLock { $0.others[caller] != nil } }

  /// The last known use of a caller at the other servers.
  func others(of caller: String) -> [QuotaUse] { self.state.withLock { $0.others[caller] ?? [] } }

  /// Forgets the use at the other servers.
  ///
  /// - Returns: The last known use, by caller.
  func removeAll() -> [String: [QuotaUse]] {
    self.state.withLock { state in
      defer { state.others = [:] }
      return state.others
    }
  }

  /// - Parameter others: The use at the other servers. `nil` forgets it.
  func set(_ others: [QuotaUse]?, of caller: String) {
    self.state.withLock { $0.others[caller] = others }
  }
}

/// A limited rate of frames or bytes, of which the other servers of a fleet have a share.
///
/// The shares of all servers never exceed the limit: a server publishes a larger share before it
/// uses it, and takes only what the shares that others have published leave. While the demands of
/// all servers are below the limit, a server has its demand and an equal part of the rest, one part
/// of which waits for servers that join; above, no server has more than its demand, and the others
/// have equal shares for each session.
package struct RateBudget: Sendable {
  /// The least share. A server without one would not see the demand of sessions that wait.
  private static let leastShare = 0.001

  private let limit: Double
  private var bucket: TokenBucket
  /// The share that the server uses; `nil` before the first exchange.
  private var share: Double?
  /// The share to use after the next exchange.
  private var next: Double
  private var offered = 0.0
  private var demand = 0.0
  private var measured: Duration
  private var sessions = 0
  /// Whether an amount was not permitted since the last exchange.
  private var isExceeded = false
  /// Whether ``next`` is the level that all demands share.
  private var isLevel = false
  /// Whether the share was final when it was last taken, until others publish other shares.
  private var isSettled = false
  /// The sum of the shares at the other servers.
  private var othersShare = 0.0

  /// Whether an amount was not permitted since the last exchange, and another one may enlarge the
  /// share.
  package var isShort: Bool { self.isExceeded && !self.isSettled }

  package init(perSecond limit: Double, at now: Duration) {
    self.limit = limit
    self.bucket = TokenBucket(perSecond: limit, at: now)
    self.next = limit
    self.measured = now
  }

  /// Returns the time until an amount may be taken, or zero if it may now.
  package mutating func delay(for amount: Double, at now: Duration) -> Duration {
    let delay = self.bucket.delay(for: amount, at: now)
    if delay > .zero { self.isExceeded = true }
    return delay
  }

  package mutating func take(_ amount: Double) { self.bucket.take(amount) }

  /// Counts an amount that arrived, whether it is taken or not.
  package mutating func offer(_ amount: Double) { self.offered += amount }

  /// Returns whether the budget is as in a new limiter.
  mutating func isFull(at now: Duration) -> Bool { self.bucket.isFull(at: now) }

  /// Whether an amount has arrived since the last measurement.
  var isInDemand: Bool { self.offered > 0 }

  /// Returns the use to publish.
  ///
  /// - Parameter others: The last known use at the other servers.
  package mutating func use(
    with others: [QuotaUse.Rate], sessions: Int = 1, at now: Duration
  ) -> QuotaUse.Rate {
    self.measure(sessions, at: now)
    self.isExceeded = false
    var own = QuotaUse.Rate(
      demand: self.demand, share: self.share ?? 0, weight: Double(max(1, sessions)))
    let rest = self.limit - others.reduce(self.demand) { $0 + $1.demand }
    let level =
      rest > 0 ? .infinity : Self.level(of: self.limit, among: others + [own]) * own.weight
    self.isLevel = level <= self.demand
    self.next =
      rest > 0 ? self.demand + rest / Double(others.count + 2) : min(self.demand, level)
    own.share = max(own.share, self.next)
    return own
  }

  /// Measures the demand over about a second, or at once if it grows or sessions end.
  private mutating func measure(_ sessions: Int, at now: Duration) {
    if sessions < self.sessions {
      let left = Double(sessions) / Double(self.sessions)
      self.demand *= left
      self.offered *= left
    }
    self.sessions = sessions
    let elapsed = (now - self.measured) / .seconds(1)
    guard elapsed >= 0.9 else {
      return self.demand = max(self.demand, self.offered / max(elapsed, 0.5))
    }
    self.demand = self.offered / elapsed
    self.offered = 0
    self.measured = now
  }

  /// Returns the share for each session at which demands, limited to it, add up to the limit.
  private static func level(of limit: Double, among rates: [QuotaUse.Rate]) -> Double {
    var (left, weight) = (limit, rates.reduce(0) { $0 + $1.weight })
    let demands = rates.map { (each: $0.demand / $0.weight, rate: $0) }
    for (each, rate) in demands.sorted(by: { $0.each < $1.each }) {
      guard each < left / weight else { break }
      left -= rate.demand
      weight -= rate.weight
    }
    return left / max(weight, 1)
  }

  /// Takes an equal share of the limit, unless the share is larger.
  ///
  /// - Parameter count: The number of servers.
  package mutating func takeEqualShare(among count: Int, at now: Duration) {
    guard let share = self.share, share < self.limit / Double(count) else { return }
    self.share = self.limit / Double(count)
    self.bucket.change(perSecond: self.limit / Double(count), at: now)
  }

  /// Takes the share that the other servers leave.
  package mutating func divide(with others: [QuotaUse.Rate], at now: Duration) {
    let othersShare = others.reduce(0) { $0 + $1.share }
    let left = self.limit - othersShare
    let isSteady = abs(othersShare - self.othersShare) <= self.limit * Self.leastShare
    self.isSettled = self.isLevel && self.next <= left && isSteady
    self.othersShare = othersShare
    let share = max(self.limit * Self.leastShare, min(self.next, left))
    self.share = share
    self.bucket.change(perSecond: share, at: now)
  }
}
