import SidelightServer

extension SettingTable {
  static let tls = Group(
    title: "TLS",
    settings: [
      Setting(
        "tls.certificate", \.tls.certificate, Form.path().optional(none: "no TLS"),
        use: .everyday, change: .onReload,
        """
        File with the server's certificate chain, PEM. With it, TCP addresses accept TLS only. \
        Enabling or disabling TLS requires a restart.
        """),
      Setting(
        "tls.key", \.tls.key, Form.path().optional(none: "none"), use: .everyday,
        change: .onReload, "File with the certificate's private key, PEM, unencrypted."),
      Setting(
        "tls.client-ca", \.tls.clientAuthorities, Form.path().optional(none: "none"),
        change: .onReload, "File with the CA certificates that sign client certificates, PEM."),
      Setting(
        "tls.client-certificates", \.tls.clientCertificates,
        Form.choice().optional(none: "required if tls.client-ca is set, else none"),
        change: .onReload, "Whether clients must present certificates."),
      Setting(
        "tls.min-version", \.tls.minimumVersion, Form.choice(), change: .onReload,
        "Minimum TLS version."),
    ])

  static let tokens = Group(
    title: "Tokens (JWT)",
    settings: [
      Setting(
        "token.issuer", \.token.issuer,
        Form.text(maxBytes: 256).optional(none: "tokens are ignored"), change: .onReload,
        """
        Required issuer (iss) of tokens. Enabling or disabling tokens requires a restart.
        """),
      Setting(
        "token.audience", \.token.audience, Form.text(maxBytes: 1024).optional(none: "none"),
        change: .onReload, "Required audience (aud) of tokens."),
      Setting(
        "token.keys", \.token.keys, Form.path().optional(none: "none"), change: .onReload,
        "File with the issuer's keys, a JSON Web Key Set."),
      Setting(
        "token.leeway", \.token.leeway, Form.duration(.zero ... .seconds(300)),
        change: .onReload, "Tolerated clock skew for the nbf and exp of tokens."),
      Setting(
        "token.scope-prefix", \.token.scopePrefix,
        Form.text(maxBytes: 256).optional(none: "none"), change: .onReload,
        "Prefix of scope names in tokens."),
    ])

  static let callers = Group(
    title: "Callers",
    settings: [
      Setting(
        "identity.unix-users", \.unixUsers, Form.numberGrant.list(), flag: "allow-unix-user",
        change: .onReload,
        "Scopes of a user's processes on Unix sockets: 1000=stream+assets."),
      Setting(
        "identity.unix-groups", \.unixGroups, Form.numberGrant.list(), flag: "allow-unix-group",
        change: .onReload, "Scopes of a group's processes on Unix sockets."),
      Setting(
        "identity.certificates", \.certificates, Form.nameGrant.list(), flag: "allow-certificate",
        change: .onReload,
        """
        Scopes of clients by certificate name; the first match applies: dns:*.example=stream. \
        Without any, every client with a certificate is a participant.
        """),
      Setting(
        "quotas.frames-per-second", \.base.quotas.framesPerSecond,
        Form.ratio(0.01 ... 1_000_000).optional(none: "unlimited"),
        flag: "caller-frames-per-second", change: .onReload,
        "Maximum frames per second of one caller."),
      Setting(
        "quotas.bytes-per-second", \.base.quotas.bytesPerSecond,
        Form.ratio(1 ... 1e12).optional(none: "unlimited"),
        flag: "caller-bytes-per-second", change: .onReload,
        "Maximum frame bytes per second of one caller."),
    ])
}

extension Form {
  /// A free text.
  fileprivate static func text(maxBytes: Int) -> SettingForm<String> {
    let kind = SettingKind(type: "text", range: "1 to \(maxBytes) bytes")
    return SettingForm(
      kind,
      parse: { text throws(SettingRefusal) in
        guard (1 ... maxBytes).contains(text.utf8.count) else {
          throw SettingRefusal("it has \(text.utf8.count) bytes; the limit is \(maxBytes)")
        }
        return text
      },
      text: { $0 })
  }

  /// A user or group ID, and the scopes of its processes.
  fileprivate static var numberGrant: SettingForm<ScopeGrant> {
    SettingForm(
      SettingKind(type: "grant", range: "ID=SCOPES, or ID"),
      parse: { text throws(SettingRefusal) in
        let grant = try Self.grant(text)
        guard UInt32(grant.name) != nil else {
          throw SettingRefusal("\(grant.name) is not a number from 0 to \(UInt32.max)")
        }
        return grant
      },
      text: \.description)
  }

  /// A certificate's name, and the scopes of its owner.
  fileprivate static var nameGrant: SettingForm<ScopeGrant> {
    SettingForm(
      SettingKind(type: "grant", range: "NAME=SCOPES, or NAME"),
      parse: { text throws(SettingRefusal) in
        let grant = try Self.grant(text)
        guard
          grant.name.hasSuffix("*") || CertificateRule.kinds.contains(where: grant.name.hasPrefix)
        else {
          throw SettingRefusal(
            "expected a name that begins with \(CertificateRule.kinds.joined(separator: " or "))")
        }
        return grant
      }, text: \.description)
  }

  private static func grant(_ text: String) throws(SettingRefusal) -> ScopeGrant {
    do throws(ConfigurationFault) {
      return try ScopeGrant(text, setting: "")
    } catch {
      throw SettingRefusal("expected \(error.range)")
    }
  }
}
