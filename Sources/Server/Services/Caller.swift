/// Whose a call is, as far as its connection tells.
package struct Caller: Sendable, Hashable, CustomStringConvertible {
  /// Who it counts as, for limits: the address without its port (`ipv4:192.0.2.1`,
  /// `ipv6:[2001:db8::1]`), or the user at the other end of a Unix socket (`unix:uid=1000`).
  package let name: String
  /// Everything that is known, for logs and operators: `ipv4:192.0.2.1:50123`, or
  /// `unix:/run/sidelight.sock uid=1000 gid=1000 pid=4711`.
  package let description: String
  /// Who is at the other end of a Unix socket.
  package let credentials: PeerCredentials?

  /// - Parameters:
  ///   - peer: As gRPC names it: `ipv4:192.0.2.1:50123`.
  ///   - credentials: For a Unix socket.
  package init(peer: String, credentials: PeerCredentials? = nil) {
    self.credentials = credentials
    if let credentials {
      self.name = "unix:uid=\(credentials.uid)"
      self.description =
        "\(peer) uid=\(credentials.uid) gid=\(credentials.gid) pid=\(credentials.pid)"
      return
    }
    self.description = peer
    let isAddress = peer.hasPrefix("ipv4:") || peer.hasPrefix("ipv6:")
    guard isAddress, let colon = peer.lastIndex(of: ":"), peer[..<colon].contains(":") else {
      self.name = peer
      return
    }
    self.name = String(peer[..<colon])
  }

  /// Whether it is on this host, or a proxy on this host stands before it.
  package var isLocal: Bool {
    self.name.hasPrefix("unix:") || self.name.hasPrefix("ipv4:127.") || self.name == "ipv6:[::1]"
      || self.name.hasPrefix("ipv6:[::ffff:127.")
  }
}
