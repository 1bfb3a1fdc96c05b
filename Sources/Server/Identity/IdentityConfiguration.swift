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

/// The scopes of clients with certain certificates.
public struct CertificateRule: Sendable, Hashable {
  /// The certificate's name in the form of `PeerCertificate.names`, such as `dns:camera-7.example`.
  /// A `*` at its end matches any rest.
  public var name: String
  /// The scopes of these clients.
  public var scopes: Set<Scope>

  /// - Parameters:
  ///   - name: The certificate's name: `uri:spiffe://example/sfu`, `dns:*`, `subject:CN=alice`.
  ///   - scopes: The scopes of these clients.
  public init(name: String, scopes: Set<Scope>) {
    self.name = name
    self.scopes = scopes
  }

  /// The prefixes of names.
  public static let kinds = ["uri:", "dns:", "subject:"]

  /// Returns whether the rule matches a name.
  func matches(_ name: String) -> Bool {
    guard self.name.hasSuffix("*") else { return self.name == name }
    return name.hasPrefix(self.name.dropLast())
  }
}
