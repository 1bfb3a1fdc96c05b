import SidelightServer

extension SettingTable {
  static let tls = Group(
    title: "TLS",
    settings: [
      Setting(
        "tls.certificate", \.tls.certificate, Form.path().optional(none: "no TLS"),
        use: .everyday, change: .onReload,
        """
        The server's certificate and its chain, PEM; with it TCP addresses speak TLS only. To turn TLS on or \
        off takes a restart.
        """),
      Setting(
        "tls.key", \.tls.key, Form.path().optional(none: "none"), use: .everyday,
        change: .onReload, "The certificate's key, PEM, not encrypted."),
      Setting(
        "tls.client-ca", \.tls.clientAuthorities, Form.path().optional(none: "none"),
        change: .onReload, "The authorities that sign clients' certificates, PEM."),
      Setting(
        "tls.client-certificates", \.tls.clientCertificates,
        Form.choice().optional(none: "required where tls.client-ca is given, else none"),
        change: .onReload, "Whether clients show certificates."),
      Setting(
        "tls.min-version", \.tls.minimumVersion, Form.choice(), change: .onReload,
        "The oldest TLS that is spoken."),
    ])

  static let tokens = Group(
    title: "Tokens (JWT)",
    settings: [
      Setting(
        "token.issuer", \.token.issuer,
        Form.text(maxBytes: 256).optional(none: "tokens are not looked at"), change: .onReload,
        "Whose tokens are good: their iss. To turn tokens on or off takes a restart."),
      Setting(
        "token.audience", \.token.audience, Form.text(maxBytes: 1024).optional(none: "none"),
        change: .onReload, "For whom tokens must be: their aud."),
      Setting(
        "token.keys", \.token.keys, Form.path().optional(none: "none"), change: .onReload,
        "The issuer's keys, a file with a JSON web key set."),
      Setting(
        "token.leeway", \.token.leeway, Form.duration(.zero ... .seconds(300)),
        change: .onReload, "By how much clocks may differ when a token begins and expires."),
      Setting(
        "token.scope-prefix", \.token.scopePrefix,
        Form.text(maxBytes: 256).optional(none: "nothing"), change: .onReload,
        "What stands before the names of scopes in tokens."),
    ])

  static let callers = Group(
    title: "Callers",
    settings: [
      Setting(
        "identity.unix-users", \.unixUsers, Form.numberGrant.list(), flag: "allow-unix-user",
        change: .onReload,
        "What processes of a user may do over Unix sockets: 1000=stream+assets."),
      Setting(
        "identity.unix-groups", \.unixGroups, Form.numberGrant.list(), flag: "allow-unix-group",
        change: .onReload, "What processes of a group may do over Unix sockets."),
      Setting(
        "identity.certificates", \.certificates, Form.nameGrant.list(), flag: "allow-certificate",
        change: .onReload,
        """
        What clients with a certificate may do, the first that fits: dns:*.example=stream; with none, \
        whoever has one is a participant.
        """),
      Setting(
        "quotas.frames-per-second", \.base.quotas.framesPerSecond,
        Form.ratio(0.01 ... 1_000_000).optional(none: "any number"),
        flag: "caller-frames-per-second", change: .onReload,
        "Frames a second that one caller may send."),
      Setting(
        "quotas.bytes-per-second", \.base.quotas.bytesPerSecond,
        Form.ratio(1 ... 1e12).optional(none: "any number"),
        flag: "caller-bytes-per-second", change: .onReload,
        "Bytes of frames a second that one caller may send."),
    ])
}

extension Form {
  /// A text of no form of its own.
  fileprivate static func text(maxBytes: Int) -> SettingForm<String> {
    let kind = SettingKind(type: "text", range: "1 to \(maxBytes) bytes")
    return SettingForm(
      kind,
      parse: { text throws(SettingRefusal) in
        guard (1 ... maxBytes).contains(text.utf8.count) else {
          throw SettingRefusal("which has \(text.utf8.count) bytes, the range is 1 to \(maxBytes)")
        }
        return text
      },
      text: { $0 })
  }

  /// A user or group by number, and what its processes may do.
  fileprivate static var numberGrant: SettingForm<ScopeGrant> {
    SettingForm(
      SettingKind(type: "grant", range: "ID=SCOPES, or ID"),
      parse: { text throws(SettingRefusal) in
        let grant = try Self.grant(text)
        guard UInt32(grant.name) != nil else {
          throw SettingRefusal("\(grant.name) is no number from 0 to \(UInt32.max)")
        }
        return grant
      },
      text: \.description)
  }

  /// A certificate's name, and what its owner may do.
  fileprivate static var nameGrant: SettingForm<ScopeGrant> {
    SettingForm(
      SettingKind(type: "grant", range: "NAME=SCOPES, or NAME"),
      parse: { text throws(SettingRefusal) in
        let grant = try Self.grant(text)
        guard
          grant.name.hasSuffix("*") || CertificateRule.kinds.contains(where: grant.name.hasPrefix)
        else {
          throw SettingRefusal(
            "a name that begins with \(CertificateRule.kinds.joined(separator: " or ")) is expected"
          )
        }
        return grant
      }, text: \.description)
  }

  private static func grant(_ text: String) throws(SettingRefusal) -> ScopeGrant {
    do throws(ConfigurationFault) {
      return try ScopeGrant(text, setting: "")
    } catch {
      throw SettingRefusal("\(error.range) is expected")
    }
  }
}
