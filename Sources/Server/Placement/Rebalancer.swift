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
    package var age: Duration
    /// The work, relative to the capacity of the compute threads.
    package var work: Double
    /// Whether it can move without losing frames, and apart from the caller's others.
    package var canMove: Bool
    /// The group, whose sessions stay: proxies, and `Place` while the load is not high, name this
    /// server to later ones. Empty for a session without a group.
    package var group: String

    package init(
      number: UInt64, age: Duration, work: Double, canMove: Bool = true, group: String = ""
    ) {
      self.number = number
      self.age = age
      self.work = work
      self.canMove = canMove
      self.group = group
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
    let movable = sessions.filter {
      $0.canMove && $0.group.isEmpty && $0.age >= self.limits.interval && $0.work > 0
    }
    var moves: [Move] = []
    // Those with the most work first.
    for session in movable.sorted(by: { ($0.work, $1.number) > ($1.work, $0.number) }) {
      let target = Placement.order(peers, for: "\(session.number)", isGroup: false)
        .first { $0.load + session.work <= self.limits.full }
      guard let target, let index = peers.firstIndex(of: target) else { continue }
      peers[index].load += session.work
      moves.append(Move(number: session.number, address: target.address))
      if moves.count == budget { break }
    }
    if !moves.isEmpty { self.nextMove = now + self.limits.interval }
    return moves
  }

  /// The least work of a session in ``drain(_:to:limits:)``, which spreads idle ones.
  private static let minimumWork = 0.001

  /// Returns the moves of the sessions of a server that shuts down.
  ///
  /// A server with less than half of this one's sessions has just started, as a rule: it takes all
  /// of them, while its load stays below ``RebalancingLimits/full``. Servers that an update replaces
  /// later do not get them, so a session moves at most twice. Otherwise, sessions go to the least
  /// loaded servers. All sessions of a group go to the server that `Place` names to later ones.
  ///
  /// - Parameters:
  ///   - sessions: The open sessions. Those that cannot move count, and get no server.
  ///   - peers: The other servers of the fleet.
  package static func drain(
    _ sessions: [Session], to peers: [Placement.Peer], limits: RebalancingLimits
  ) -> [Move] {
    var loads = peers.map(\.load)
    return sessions.compactMap { session in
      guard session.canMove else { return nil }
      let work = max(Self.minimumWork, session.work)
      let best =
        session.group.isEmpty
        ? peers.indices.min { rank($0, work) < rank($1, work) }
        : Placement.order(peers, for: session.group, isGroup: true).first
          .flatMap { peers.firstIndex(of: $0) }
      guard let best else { return nil }
      loads[best] += work
      return Move(number: session.number, address: peers[best].address)
    }

    func rank(_ index: Int, _ work: Double) -> (Int, Double) {
      let isFull = loads[index] + work > limits.full
      let isNew = 2 * (peers[index].sessions ?? sessions.count) < sessions.count
      return (isFull ? 2 : isNew ? 0 : 1, loads[index])
    }
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
        sessions: self.sessions(handles), peers: self.peers?.current ?? [],
        at: self.clock.now())
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

  /// Decides where the sessions continue, if this server shuts down and clients connect to servers
  /// themselves.
  func planDrain(_ configuration: PlacementConfiguration) {
    guard configuration.rebalancing == .direct, let peers = self.peers else { return }
    let moves = Rebalancer.drain(
      self.sessions(self.admission.sessions.handles), to: peers.others, limits: configuration.limits
    )
    self.drainTargets.value = Dictionary(
      moves.map { ($0.number, $0.address) }, uniquingKeysWith: { first, _ in first })
  }

  private func sessions(_ handles: [SessionHandle]) -> [Rebalancer.Session] {
    let demands = self.processing.scheduler.demands
    let now = self.clock.now()
    // The sources of a composition are at its server.
    let composers = Set(handles.filter(\.composes).map(\.identity.caller))
    return handles.map { handle in
      Rebalancer.Session(
        number: handle.number, age: now - handle.opened, work: demands[handle.number] ?? 0,
        canMove: handle.acceptsMove && !composers.contains(handle.identity.caller),
        group: handle.group)
    }
  }
}
