import GRPCCore
import SidelightKernels
package import SidelightTransport
import SidelightWire

/// The caller of an RPC, as identified by its credentials or its connection.
package struct Caller: Sendable, Hashable, CustomStringConvertible {
  /// The name for limits and ownership: the authenticated name (`sub:alice@https://id.example`),
  /// else the user of a Unix socket's peer (`unix:uid=1000`), else the address without its port
  /// (`ipv4:192.0.2.1`, `ipv6:[2001:db8::1]`).
  package let name: String
  /// The description for logs and operators: the address (`ipv4:192.0.2.1:50123`, or
  /// `unix:/run/sidelight.sock uid=1000 gid=1000 pid=4711`), then ` as ` and the authenticated
  /// name.
  package let description: String
  /// The credentials of a Unix socket's peer, or `nil` for other sockets.
  package let credentials: PeerCredentials?
  /// The authenticated caller, or `nil` if the call is not authenticated.
  package let principal: Principal?
  /// The participant for which the caller acts, or empty for the caller itself.
  package private(set) var participant = ""

  /// - Parameters:
  ///   - peer: The address in the form that gRPC uses: `ipv4:192.0.2.1:50123`.
  ///   - credentials: The credentials of a Unix socket's peer.
  ///   - principal: The authenticated caller.
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

  /// Returns the caller, acting for one of its participants.
  package func acting(for participant: String) -> Caller {
    var caller = self
    caller.participant = participant
    return caller
  }

  /// The name under which sessions, rates and assets count.
  package var identity: CallerIdentity {
    CallerIdentity(caller: self.name, participant: self.participant)
  }

  private static func address(ofPeer peer: String) -> String {
    let isAddress = peer.hasPrefix("ipv4:") || peer.hasPrefix("ipv6:")
    guard isAddress, let colon = peer.lastIndex(of: ":"), peer[..<colon].contains(":") else {
      return peer
    }
    return String(peer[..<colon])
  }

  /// Whether the caller, or a proxy in front of it, is on this host.
  package var isLocal: Bool {
    // The description begins with the transport's address, which the caller cannot choose.
    self.description.hasPrefix("unix:") || Self.isLoopback(self.description)
  }

  /// Returns whether a name or description begins with a loopback address.
  package static func isLoopback(_ text: String) -> Bool {
    ["ipv4:127.", "ipv6:[::1]", "ipv6:[::ffff:127."].contains(where: text.hasPrefix)
  }
}

/// The context of a call whose caller is known.
struct AuthenticatedCall: ServerContext.TransportSpecific {
  var origin: CallOrigin
  var principal: Principal
}

extension ServerContext {
  /// The origin of the call, or `nil` if another transport carries it.
  var callOrigin: CallOrigin? {
    switch self.transportSpecific {
    case let origin as CallOrigin: origin
    case let call as AuthenticatedCall: call.origin
    default: nil
    }
  }

  var caller: Caller {
    Caller(
      peer: self.remotePeer, credentials: self.callOrigin?.connection.credentials,
      principal: (self.transportSpecific as? AuthenticatedCall)?.principal)
  }

  /// Returns the caller, acting for the participant that a request names.
  ///
  /// - Parameter field: The field of the request that names the participant.
  /// - Throws: ``FieldViolation`` if the name is invalid.
  func caller(actingFor participant: String, field: String) throws(FieldViolation) -> Caller {
    try ParticipantName.check(participant, field: field)
    return self.caller.acting(for: participant)
  }

  /// Returns a store for the call's large messages, or `nil` if another transport carries the call.
  func makeCallMessages() -> OutboundMessageStore.CallMessages? {
    self.callOrigin?.makeCallMessages()
  }
}

/// The name under which sessions, rates and assets count: a caller, or one of the participants that
/// it vouches for. Participants of different callers are different, even if their names are equal.
package struct CallerIdentity: Sendable, Hashable, CustomStringConvertible {
  package let caller: String
  /// The participant's name, or empty for the caller itself.
  package let participant: String

  /// - Parameter participant: The participant's name, or empty for the caller itself.
  package init(caller: String, participant: String = "") {
    self.caller = caller
    self.participant = participant
  }

  package var isParticipant: Bool { !self.participant.isEmpty }

  /// The caller that vouches for a participant, or `nil` for a caller.
  package var parent: CallerIdentity? {
    self.isParticipant ? CallerIdentity(caller: self.caller) : nil
  }

  /// The caller's name as operators see it and state it in requests.
  package var listedCaller: String {
    self.caller.clipped(toBytes: ContractLimits.maxListedPeerBytes)
  }

  /// The name for errors.
  package var description: String {
    self.isParticipant
      ? "participant \(self.participant.debugDescription) of \(self.caller)" : self.caller
  }
}
