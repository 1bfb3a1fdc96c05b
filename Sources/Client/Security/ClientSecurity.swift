import SidelightWire

/// How a client knows that it speaks to its server, and how the server knows who speaks.
public struct ClientSecurity: Sendable {
  /// - `tls` (default: none): how connections over TCP are secured. None: they are not.
  public var tls: ClientTLS?
  /// - `token` (default: none): gives the bearer token of each call, when it begins. A session that
  ///   reconnects asks again, so that one whose token expired goes on with the next. What it throws
  ///   ends the call.
  ///
  /// A token goes over TLS, over Unix sockets and to this host only: on the way to another whoever
  /// listens could use it.
  public var token: (@Sendable () async throws -> String)?

  /// States how.
  public init(tls: ClientTLS? = nil, token: (@Sendable () async throws -> String)? = nil) {
    self.tls = tls
    self.token = token
  }

  /// Whether servers at those addresses can be spoken to so.
  ///
  /// - Throws: `ConfigurationFault` that names the setting.
  func validate(for addresses: [Address]) throws(ConfigurationFault) {
    if let tls, (tls.certificateChain == nil) != (tls.privateKey == nil) {
      throw ConfigurationFault(
        setting: "security.tls.privateKey", value: tls.privateKey ?? "not set",
        range: "the key of security.tls.certificateChain, both or neither")
    }
    if let name = self.tls?.serverName, name.isIPAddress {
      throw ConfigurationFault(
        setting: "security.tls.serverName", value: name, range: "hosts' names, not their numbers")
    }
    guard self.tls == nil, self.token != nil, let open = addresses.first(where: { !$0.isLocal })
    else {
      return
    }
    throw ConfigurationFault(
      setting: "security.token", value: "set for \(open) without TLS",
      range: "addresses with TLS, on this host, or Unix sockets")
  }
}
