import GRPCCore
package import SidelightTransport

/// Whose a call is, as far as it and its connection tell.
package struct Caller: Sendable, Hashable, CustomStringConvertible {
  /// Who it counts as, for limits and as an owner: who he has proved to be
  /// (`sub:alice@https://id.example`), else the user at the other end of a Unix socket
  /// (`unix:uid=1000`), else the address without its port (`ipv4:192.0.2.1`, `ipv6:[2001:db8::1]`).
  package let name: String
  /// Everything that is known, for logs and operators, the address first: `ipv4:192.0.2.1:50123`,
  /// or `unix:/run/sidelight.sock uid=1000 gid=1000 pid=4711`, then ` as ` and who he has proved to
  /// be.
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
    let known = credentials.map { " \($0)" } ?? ""
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

/// The context of a call whose caller is known.
struct AuthenticatedCall: ServerContext.TransportSpecific {
  /// The origin of the call.
  var origin: CallOrigin
  /// The caller.
  var principal: Principal
}

extension ServerContext {
  /// The origin of the call; `nil` if another transport carries it.
  var callOrigin: CallOrigin? {
    switch self.transportSpecific {
    case let origin as CallOrigin: origin
    case let call as AuthenticatedCall: call.origin
    default: nil
    }
  }

  /// The caller.
  var caller: Caller {
    Caller(
      peer: self.remotePeer, credentials: self.callOrigin?.connection.credentials,
      principal: (self.transportSpecific as? AuthenticatedCall)?.principal)
  }

  /// Returns the place of the call's large messages; `nil` if another transport carries the call.
  func makeCallMessages() -> OutboundMessageStore.CallMessages? {
    self.callOrigin?.makeCallMessages()
  }
}
