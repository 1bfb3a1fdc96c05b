/// The scopes of callers that their connection identifies. A bearer token takes precedence over the
/// connection.
///
/// If at least one kind of credentials is configured, using this type,
/// `ServerTLS.clientCertificates` or an ``Authenticator``, calls without credentials are refused,
/// except health checks. Otherwise all callers have all scopes.
public struct IdentityConfiguration: Sendable, Hashable {
  /// - `unixUsers` (default: empty): the scopes of a user's processes on Unix sockets, by user ID.
  public var unixUsers: [UInt32: Set<Scope>] = [:]
  /// - `unixGroups` (default: empty): the scopes of a group's processes on Unix sockets, by group
  ///   ID. The group is the process's effective group, not a supplementary one. A process whose
  ///   user has an entry too has the scopes of both.
  public var unixGroups: [UInt32: Set<Scope>] = [:]
  /// - `certificates` (default: the participant's scopes for every certificate): the scopes of
  ///   clients with a certificate. The first rule that matches applies.
  public var certificates = [CertificateRule(name: "*", scopes: .participant)]

  /// The defaults.
  public init() {}

  /// Whether callers on Unix sockets are identified by user or group.
  var usesUnixCredentials: Bool { !self.unixUsers.isEmpty || !self.unixGroups.isEmpty }
}
