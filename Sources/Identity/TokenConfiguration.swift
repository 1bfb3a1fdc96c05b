/// The requirements on JSON Web Tokens (RFC 7519).
public struct TokenConfiguration: Sendable, Hashable {
  /// - `issuer` (required): the exact `iss` of tokens.
  public var issuer: String
  /// - `audience` (required): an element of the `aud` of tokens. Tokens for other services are
  ///   invalid.
  public var audience: String
  /// - `keys` (path, required): a file with a JSON Web Key Set (RFC 7517), at most 1 MiB and 64
  ///   keys.
  public var keys: String
  /// - `leeway` (duration, default: 60 s, range: 0-300 s): the tolerated clock skew between this
  ///   server and the issuer. It extends the validity of tokens at both ends.
  public var leeway = Duration.seconds(60)
  /// - `scopePrefix` (default: none): the prefix of scope names in tokens, such as `sidelight:`.
  ///   Names without it are ignored.
  public var scopePrefix = ""

  /// - Parameters:
  ///   - issuer: The issuer of tokens.
  ///   - audience: The audience of tokens.
  ///   - keys: The path of a key set.
  public init(issuer: String, audience: String, keys: String) {
    self.issuer = issuer
    self.audience = audience
    self.keys = keys
  }

  /// Validates all values.
  ///
  /// - Throws: `ConfigurationFault` with the setting that is out of range.
  public func validate() throws(ConfigurationFault) {
    // The issuer follows the last @ of a caller's name. An issuer without @ keeps subjects of
    // different issuers distinct.
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
