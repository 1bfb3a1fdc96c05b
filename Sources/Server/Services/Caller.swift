/// Whose a call is, as far as its connection tells: the address without its port.
struct Caller: Sendable, Hashable {
  /// `ipv4:192.0.2.1`, `ipv6:[2001:db8::1]`, or `unix:` with the socket's path.
  let name: String

  /// - Parameter peer: As gRPC names it: `ipv4:192.0.2.1:50123`.
  init(peer: String) {
    let isAddress = peer.hasPrefix("ipv4:") || peer.hasPrefix("ipv6:")
    guard isAddress, let colon = peer.lastIndex(of: ":"), peer[..<colon].contains(":") else {
      self.name = peer
      return
    }
    self.name = String(peer[..<colon])
  }
}
