/// Whose a call is, as far as its connection tells: the address without its port.
package struct Caller: Sendable, Hashable {
  /// `ipv4:192.0.2.1`, `ipv6:[2001:db8::1]`, or `unix:` with the socket's path.
  package let name: String

  /// - Parameter peer: As gRPC names it: `ipv4:192.0.2.1:50123`.
  package init(peer: String) {
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
