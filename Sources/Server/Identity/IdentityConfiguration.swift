public import SidelightWire

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

  func matches(_ name: String) -> Bool {
    guard self.name.hasSuffix("*") else { return self.name == name }
    return name.hasPrefix(self.name.dropLast())
  }
}

/// The scopes of a user, group or certificate in text form: `1000=stream+assets`,
/// `dns:camera-7.example=stream`, or `1000` alone for a participant's scopes.
public struct ScopeGrant: Sendable, Hashable, CustomStringConvertible {
  /// The user id, group id or certificate name.
  public var name: String
  /// The scopes.
  public var scopes: Set<Scope>

  /// Reads a grant.
  ///
  /// - Parameters:
  ///   - text: A name, optionally with `=` and either `all` or scopes joined by `+` or commas. A
  ///     name that contains `=` must have scopes after it.
  ///   - setting: The setting that has the value, for errors.
  /// - Throws: `ConfigurationError` that lists the valid scopes.
  public init(_ text: String, setting: String) throws(ConfigurationError) {
    let equals = text.lastIndex(of: "=")
    let tail = equals.map { text[text.index(after: $0)...] }
    if let equals, let tail, let scopes = Self.scopes(tail) {
      self.init(name: String(text[..<equals]), scopes: scopes)
    } else if equals == nil {
      self.init(name: text, scopes: .participant)
    } else {
      throw ConfigurationError(
        setting: setting, value: text,
        range:
          "NAME=SCOPES with scopes of \(Scope.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    guard !self.name.isEmpty else {
      throw ConfigurationError(setting: setting, value: text, range: "a name, = and scopes")
    }
  }

  /// The form that ``init(_:setting:)`` reads.
  public var description: String {
    "\(self.name)=\(self.scopes.map(\.rawValue).sorted().joined(separator: "+"))"
  }

  private init(name: String, scopes: Set<Scope>) {
    self.name = name
    self.scopes = scopes
  }

  private static func scopes(_ text: Substring) -> Set<Scope>? {
    if text == "all" { return .all }
    let scopes = text.split { $0 == "," || $0 == "+" }.map { Scope(rawValue: String($0)) }
    return scopes.isEmpty || scopes.contains(nil) ? nil : Set(scopes.compactMap(\.self))
  }
}
