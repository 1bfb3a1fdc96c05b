/// Which JSON web tokens (RFC 7519) are good.
public struct TokenConfiguration: Sendable, Hashable {
  /// - `issuer` (required): the `iss` that a token must have, exactly.
  public var issuer: String
  /// - `audience` (required): what a token's `aud` must name, among others perhaps. One that was issued
  ///   for another service is not good here.
  public var audience: String
  /// - `keys` (path, required): a file with a JSON web key set (RFC 7517), at most 1 MiB and 64 keys.
  public var keys: String
  /// - `leeway` (duration, default: 60 s, range: 0-300 s): by how much the clocks of this server and the
  ///   issuer may differ: how much longer and earlier a token is good than it says.
  public var leeway = Duration.seconds(60)
  /// - `scopePrefix` (default: none): what stands before the names of scopes in tokens, such as
  ///   `sidelight:`. Names without it mean nothing here.
  public var scopePrefix = ""

  /// - Parameters:
  ///   - issuer: Whose tokens.
  ///   - audience: For whom.
  ///   - keys: The path of a key set.
  public init(issuer: String, audience: String, keys: String) {
    self.issuer = issuer
    self.audience = audience
    self.keys = keys
  }

  /// Whether all is in its range.
  ///
  /// - Throws: `ConfigurationFault` that names the setting.
  public func validate() throws(ConfigurationFault) {
    // What follows the last @ of a caller's name is the issuer, so that no subject can be forged to look
    // like another issuer's.
    guard !self.issuer.isEmpty, self.issuer.utf8.count <= 256, !self.issuer.contains("@") else {
      throw ConfigurationFault(
        setting: "token.issuer", value: self.issuer, range: "1 to 256 bytes without @")
    }
    guard !self.audience.isEmpty else {
      throw ConfigurationFault(setting: "token.audience", value: "", range: "a name")
    }
    guard (.zero ... .seconds(300)).contains(self.leeway) else {
      throw ConfigurationFault(
        setting: "token.leeway", value: "\(self.leeway)", range: "0 to 300 seconds")
    }
  }
}
