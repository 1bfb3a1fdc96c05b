import Logging
import SidelightWire

/// Decides which sessions a hot server moves, and to which servers. A pure state machine; the time
/// is a parameter.
///
/// A server is hot after its load was above ``RebalancingLimits/hot`` for
/// ``RebalancingLimits/time``. It then moves a part of its sessions to servers below
/// ``RebalancingLimits/cold``, and waits before it moves more. The load of these servers stays
/// below ``RebalancingLimits/full``, so they do not move the sessions back.
package struct Rebalancer: Sendable {
  /// An open session.
  package struct Session: Sendable, Hashable {
    package var number: UInt64
    /// The group, whose sessions move together. Empty without one.
    package var group: String
    package var age: Duration
    /// The work, relative to the capacity of the compute threads.
    package var work: Double
    /// Whether it can move without losing frames.
    package var canMove: Bool

    package init(
      number: UInt64, group: String = "", age: Duration, work: Double, canMove: Bool = true
    ) {
      self.number = number
      self.group = group
      self.age = age
      self.work = work
      self.canMove = canMove
    }
  }

  /// A move of one session.
  package struct Move: Sendable, Hashable {
    package var number: UInt64
    /// The address of the server.
    package var address: String

    package init(number: UInt64, address: String) {
      self.number = number
      self.address = address
    }
  }

  private let limits: RebalancingLimits
  /// The time since which the load is high.
  private var highSince: Duration?
  private var nextMove: Duration?

  package init(_ limits: RebalancingLimits) {
    self.limits = limits
  }

  /// Returns the moves that are due.
  ///
  /// - Parameters:
  ///   - load: The load of this server, without a credit for new sessions.
  ///   - sessions: The open sessions.
  ///   - peers: The servers of the fleet. This one may be among them.
  package mutating func step(
    load: Double, sessions: [Session], peers: [Placement.Peer], at now: Duration
  ) -> [Move] {
    guard load > self.limits.hot else {
      self.highSince = nil
      return []
    }
    let since = self.highSince ?? now
    self.highSince = since
    guard now - since >= self.limits.time, now >= self.nextMove ?? now else { return [] }
    var peers = peers.filter { $0.load < self.limits.cold }
    let budget = max(1, Int(self.limits.share * Double(sessions.count)))
    var moves: [Move] = []
    for unit in self.units(sessions) where moves.isEmpty || moves.count + unit.count <= budget {
      let work = unit.reduce(0) { $0 + $1.work }
      let group = unit[0].group
      let target = Placement.order(
        peers, for: group.isEmpty ? "\(unit[0].number)" : group, isGroup: !group.isEmpty
      ).first { $0.load + work <= self.limits.full }
      guard let target, let index = peers.firstIndex(of: target) else { continue }
      peers[index].load += work
      moves += unit.map { Move(number: $0.number, address: target.address) }
      if moves.count >= budget { break }
    }
    if !moves.isEmpty {
      // A group that is larger than the budget uses the budget of several intervals.
      let intervals = max(1, Double(moves.count) / Double(budget))
      self.nextMove = now + self.limits.interval * intervals
    }
    return moves
  }

  /// Returns the sessions that move together and can move, those with the most work first.
  private func units(_ sessions: [Session]) -> [[Session]] {
    let grouped = Dictionary(grouping: sessions) { session in
      session.group.isEmpty ? "\(session.number)" : " \(session.group)"
    }
    let units = grouped.values.filter { unit in
      unit.allSatisfy { $0.canMove && $0.age >= self.limits.interval }
        && unit.contains { $0.work > 0 }
    }
    func work(_ unit: [Session]) -> Double { unit.reduce(0) { $0 + $1.work } }
    return units.sorted { (work($0), $1[0].number) > (work($1), $0[0].number) }
  }
}

extension Engine {
  /// The time in which the client of a session must have left.
  private static let moveTime = Duration.seconds(30)

  /// Moves sessions to other servers while this one is hot, until the task is cancelled.
  func rebalance(_ configuration: PlacementConfiguration) async {
    var rebalancer = Rebalancer(configuration.limits)
    while !Task.isCancelled {
      let handles = self.admission.sessions.handles
      let moves = rebalancer.step(
        load: self.processing.scheduler.load,
        sessions: self.sessions(handles, staysWithGroup: configuration.rebalancing == .proxy),
        peers: self.peers?.current ?? [], at: self.clock.now())
      for move in moves {
        guard let handle = handles.first(where: { $0.number == move.number }) else { continue }
        handle.move(
          to: configuration.rebalancing == .direct ? [move.address] : [], within: Self.moveTime,
          otherwise: .moved)
        self.observability.logger.notice(
          "session moved to relieve this server",
          metadata: ["session": "\(handle.id)", "address": "\(move.address)"])
      }
      await self.clock.wait(.seconds(1))
    }
  }

  private func sessions(
    _ handles: [SessionHandle], staysWithGroup: Bool
  ) -> [Rebalancer.Session] {
    let demands = self.processing.scheduler.demands
    let now = self.clock.now()
    // The sources of a composition are at its server.
    let composers = Set(handles.filter(\.composes).map(\.identity.caller))
    return handles.map { handle in
      Rebalancer.Session(
        number: handle.number, group: handle.group, age: now - handle.opened,
        work: demands[handle.number] ?? 0,
        canMove: handle.acceptsMove && !composers.contains(handle.identity.caller)
          && (handle.group.isEmpty || !staysWithGroup))
    }
  }
}
