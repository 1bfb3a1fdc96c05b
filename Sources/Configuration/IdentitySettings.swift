import SidelightIdentity
import SidelightServer

/// The TLS settings, as far as they are set.
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

/// The token settings, as far as they are set.
struct TokenSettings: Sendable, Hashable {
  var issuer: String?
  var audience: String?
  var keys: String?
  var leeway = Duration.seconds(60)
  var scopePrefix: String?

  /// The authenticator's configuration. `nil` ignores tokens.
  var configuration: TokenConfiguration? {
    guard let issuer, let audience, let keys else { return nil }
    var tokens = TokenConfiguration(issuer: issuer, audience: audience, keys: keys)
    tokens.leeway = self.leeway
    tokens.scopePrefix = self.scopePrefix ?? ""
    return tokens
  }
}
