/// Whose a call is, as far as it and its connection tell.
package struct Caller: Sendable, Hashable, CustomStringConvertible {
  /// Who it counts as, for limits and as an owner: who he has proved to be
  /// (`sub:alice@https://id.example`), else the user at the other end of a Unix socket
  /// (`unix:uid=1000`), else the address without its port (`ipv4:192.0.2.1`, `ipv6:[2001:db8::1]`).
  package let name: String
  /// Everything that is known, for logs and operators, the address first: `ipv4:192.0.2.1:50123`, or
  /// `unix:/run/sidelight.sock uid=1000 gid=1000 pid=4711`, then ` as ` and who he has proved to be.
  package let description: String
  /// Who is at the other end of a Unix socket.
  package let credentials: PeerCredentials?
  /// Who calls; `nil` if nobody was asked.
  package let principal: Principal?

  /// - Parameters:
  ///   - peer: As gRPC names it: `ipv4:192.0.2.1:50123`.
  ///   - credentials: For a Unix socket.
  ///   - principal: Who he has proved to be.
  package init(
    peer: String, credentials: PeerCredentials? = nil, principal: Principal? = nil
  ) {
    self.credentials = credentials
    self.principal = principal
    let known = credentials.map { " uid=\($0.uid) gid=\($0.gid) pid=\($0.pid)" } ?? ""
    self.description = peer + known + (principal.map { " as \($0.name)" } ?? "")
    self.name =
      principal?.name ?? credentials.map { "unix:uid=\($0.uid)" } ?? Self.address(ofPeer: peer)
  }

  private static func address(ofPeer peer: String) -> String {
    let isAddress = peer.hasPrefix("ipv4:") || peer.hasPrefix("ipv6:")
    guard isAddress, let colon = peer.lastIndex(of: ":"), peer[..<colon].contains(":") else {
      return peer
    }
    return String(peer[..<colon])
  }

  /// Whether it is on this host, or a proxy on this host stands before it.
  package var isLocal: Bool {
    // What stands first is the transport's, whatever a caller calls himself.
    ["unix:", "ipv4:127.", "ipv6:[::1]:", "ipv6:[::ffff:127."].contains(
      where: self.description.hasPrefix)
  }
}
