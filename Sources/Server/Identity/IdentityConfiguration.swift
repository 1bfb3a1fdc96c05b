/// Who may call by what his connection proves. Whoever brings a bearer token is who the token says.
///
/// As soon as one way of proof is configured, here, by `ServerTLS.clientCertificates` or by an
/// ``Authenticator``, whoever proves nothing is refused; health checks excepted. Without any, everybody
/// may do everything.
public struct IdentityConfiguration: Sendable, Hashable {
  /// - `unixUsers` (default: none): what processes of a user may do over Unix sockets, by user id.
  public var unixUsers: [UInt32: Set<Scope>] = [:]
  /// - `unixGroups` (default: none): what processes of a group may do over Unix sockets, by group id.
  ///   It is the process's effective group that counts, not those it is in besides. A process whose user
  ///   is named too may do both.
  public var unixGroups: [UInt32: Set<Scope>] = [:]
  /// - `certificates` (default: whoever has one is a participant): what clients with a certificate may
  ///   do. The first rule that fits counts.
  public var certificates = [CertificateRule(name: "*", scopes: .participant)]

  /// The defaults.
  public init() {}

  /// Whether Unix sockets ask for users or groups.
  var asksForUnixPeers: Bool { !self.unixUsers.isEmpty || !self.unixGroups.isEmpty }
}
