public import SidelightWire

/// The other servers of a fleet, and the sessions that they take over.
public struct PlacementConfiguration: Sendable, Hashable {
  /// The way in which a hot server moves sessions to others. Sessions of a group (`sidelight-group`)
  /// stay, because later ones of the group come to this server.
  public enum Rebalancing: String, Sendable, Hashable, CaseIterable {
    /// Sessions stay.
    case off
    /// Clients are given the address of a server that has room, also when this one shuts down.
    case direct
    /// Clients choose, because they connect through a proxy that balances by load.
    case proxy
  }

  /// - `peers` (default: empty): the servers of the fleet, as clients reach them. A host name
  ///   stands for all of its addresses, and may include this server. Their loads are read using
  ///   ORCA, over TLS if this server's ``ServerConfiguration/tls`` is set. If empty, `Place` is
  ///   refused.
  public var peers: [Address] = []
  /// - `rebalancing` (default: off): whether sessions move to `peers` while this server is hot, and
  ///   whether it names one to sessions when it shuts down.
  public var rebalancing = Rebalancing.off
  package var limits = RebalancingLimits()

  /// The defaults: a server without a fleet.
  public init() {}
}

/// The limits of rebalancing.
package struct RebalancingLimits: Sendable, Hashable {
  /// The load above which a server is hot.
  package var hot = 0.8
  /// The load below which a server takes sessions over.
  package var cold = 0.6
  /// The load that a server may have after it has taken sessions over.
  package var full = 0.7
  /// The time after which a server with a high load is hot.
  package var time = Duration.seconds(20)
  /// The part of the sessions that may move in an interval; at least one session may.
  package var share = 0.05
  /// The interval, and the age below which a session stays.
  package var interval = Duration.seconds(60)

  package init() {}
}
