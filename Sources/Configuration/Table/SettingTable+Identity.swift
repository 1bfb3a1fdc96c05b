import SidelightIdentity
import SidelightServer

/// The TLS settings that are set.
struct TLSSettings: Sendable, Hashable {
  var certificate: String?
  var key: String?
  var clientAuthorities: String?
  /// Whether clients must present certificates. `nil` requires them if ``clientAuthorities`` is
  /// set.
  var clientCertificates: ServerTLS.ClientCertificates?
  var minimumVersion = ServerTLS.Version.tls12

  /// The server's TLS configuration. `nil` disables TLS.
  var configuration: ServerTLS? {
    guard let certificate, let key else { return nil }
    var tls = ServerTLS(certificateChain: certificate, privateKey: key)
    tls.clientAuthorities = self.clientAuthorities
    tls.clientCertificates =
      self.clientCertificates ?? (self.clientAuthorities == nil ? .none : .required)
    tls.minimumVersion = self.minimumVersion
    return tls
  }
}

/// The token settings that are set.
struct TokenSettings: Sendable, Hashable {
  var issuer: String?
  var audience: String?
  var keys: String?
  var scopePrefix: String?

  /// The authenticator's configuration. `nil` ignores tokens.
  var configuration: TokenConfiguration? {
    guard let issuer, let audience, let keys else { return nil }
    var tokens = TokenConfiguration(issuer: issuer, audience: audience, keys: keys)
    tokens.scopePrefix = self.scopePrefix ?? ""
    return tokens
  }
}

extension SettingTable {
  static let tls = Group(
    title: "TLS",
    settings: [
      Setting(
        "tls.certificate", \.tls.certificate, Format.path().optional(none: "no TLS"),
        use: .common, change: .onReload,
        """
        File with the server's certificate chain, PEM. With it, TCP addresses accept TLS only. \
        Enabling or disabling TLS requires a restart.
        """),
      Setting(
        "tls.key", \.tls.key, Format.path().optional(none: "none"), use: .common,
        change: .onReload, "File with the certificate's private key, PEM, unencrypted."),
      Setting(
        "tls.client-ca", \.tls.clientAuthorities, Format.path().optional(none: "none"),
        change: .onReload, "File with the CA certificates that sign client certificates, PEM."),
      Setting(
        "tls.client-certificates", \.tls.clientCertificates,
        Format.choice().optional(none: "required if tls.client-ca is set, else none"),
        change: .onReload, "Whether clients must present certificates."),
      Setting(
        "tls.min-version", \.tls.minimumVersion, Format.choice(), change: .onReload,
        "Minimum TLS version."),
    ])

  static let tokens = Group(
    title: "Tokens (JWT)",
    settings: [
      Setting(
        "token.issuer", \.token.issuer,
        Format.text(maxBytes: 256).optional(none: "tokens are ignored"), change: .onReload,
        """
        Required issuer (iss) of tokens. Enabling or disabling tokens requires a restart.
        """),
      Setting(
        "token.audience", \.token.audience, Format.text(maxBytes: 1024).optional(none: "none"),
        change: .onReload, "Required audience (aud) of tokens."),
      Setting(
        "token.keys", \.token.keys, Format.path().optional(none: "none"), change: .onReload,
        "File with the issuer's keys, a JSON Web Key Set."),
      Setting(
        "token.scope-prefix", \.token.scopePrefix,
        Format.text(maxBytes: 256).optional(none: "none"), change: .onReload,
        "Prefix of scope names in tokens."),
    ])

  static let callers = Group(
    title: "Callers",
    settings: [
      Setting(
        "identity.unix-users", \.unixUsers, Format.numberGrant.list(), flag: "allow-unix-user",
        change: .onReload,
        "Scopes of a user's processes on Unix sockets: 1000=stream+assets."),
      Setting(
        "identity.unix-groups", \.unixGroups, Format.numberGrant.list(), flag: "allow-unix-group",
        change: .onReload, "Scopes of a group's processes on Unix sockets."),
      Setting(
        "identity.certificates", \.certificates, Format.nameGrant.list(), flag: "allow-certificate",
        change: .onReload,
        """
        Scopes of clients by certificate name; the first match applies: dns:*.example=stream. \
        Without any, every client with a certificate is a participant.
        """),
      Setting(
        "quotas.frames-per-second", \.base.quotas.framesPerSecond,
        Format.ratio(0.01 ... 1_000_000).optional(none: "unlimited"),
        flag: "caller-frames-per-second", change: .onReload,
        "Maximum frames per second of one caller."),
      Setting(
        "quotas.bytes-per-second", \.base.quotas.bytesPerSecond,
        Format.ratio(1 ... 1e12).optional(none: "unlimited"),
        flag: "caller-bytes-per-second", change: .onReload,
        "Maximum frame bytes per second of one caller."),
      Setting(
        "quotas.participant-frames-per-second", \.base.quotas.participant.framesPerSecond,
        Format.ratio(0.01 ... 1_000_000).optional(none: "unlimited"),
        flag: "participant-frames-per-second", change: .onReload,
        "Maximum frames per second of one participant, in addition to its caller's limit."),
      Setting(
        "quotas.participant-bytes-per-second", \.base.quotas.participant.bytesPerSecond,
        Format.ratio(1 ... 1e12).optional(none: "unlimited"),
        flag: "participant-bytes-per-second", change: .onReload,
        "Maximum frame bytes per second of one participant, in addition to its caller's limit."),
    ])
}

extension Format {
  /// A user or group ID, and the scopes of its processes.
  fileprivate static var numberGrant: SettingFormat<ScopeGrant> {
    SettingFormat(
      SettingKind(type: "grant", range: "ID=SCOPES, or ID"),
      parse: { text throws(InvalidSettingValue) in
        let grant = try Self.grant(text)
        guard UInt32(grant.name) != nil else {
          throw InvalidSettingValue("\(grant.name) is not a number from 0 to \(UInt32.max)")
        }
        return grant
      },
      text: \.description)
  }

  /// A certificate's name, and the scopes of its owner.
  fileprivate static var nameGrant: SettingFormat<ScopeGrant> {
    SettingFormat(
      SettingKind(type: "grant", range: "NAME=SCOPES, or NAME"),
      parse: { text throws(InvalidSettingValue) in
        let grant = try Self.grant(text)
        guard
          grant.name.hasSuffix("*") || CertificateRule.kinds.contains(where: grant.name.hasPrefix)
        else {
          throw InvalidSettingValue(
            "expected a name that begins with \(CertificateRule.kinds.joined(separator: " or "))")
        }
        return grant
      }, text: \.description)
  }

  private static func grant(_ text: String) throws(InvalidSettingValue) -> ScopeGrant {
    do throws(ConfigurationError) {
      return try ScopeGrant(text, setting: "")
    } catch {
      throw InvalidSettingValue("expected \(error.range)")
    }
  }
}
