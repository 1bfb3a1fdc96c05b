public import SidelightWire

/// The other servers of a fleet, and the sessions that they take over.
public struct PlacementConfiguration: Sendable, Hashable {
  /// The way in which a hot server moves sessions to others.
  public enum Rebalancing: String, Sendable, Hashable, CaseIterable {
    /// Sessions stay.
    case off
    /// Clients are given the address of a server that has room.
    case direct
    /// Clients choose, because they connect through a proxy that balances by load. Sessions of a
    /// group (`sidelight-group`) stay: the proxy would send them back.
    case proxy
  }

  /// - `peers` (default: empty): the servers of the fleet, as clients reach them. A host name stands
  ///   for all of its addresses, and may include this server. Their loads are read using ORCA, over
  ///   TLS if this server's ``ServerConfiguration/tls`` is set. If empty, `Place` is refused.
  public var peers: [Address] = []
  /// - `rebalancing` (default: off): whether sessions move to `peers` while this server is hot.
  public var rebalancing = Rebalancing.off
  /// The limits of rebalancing.
  package var limits = Rebalancer.Limits()

  /// The defaults: a server without a fleet.
  public init() {}
}
