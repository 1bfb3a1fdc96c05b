import SidelightIdentity
import SidelightServer

/// How TCP addresses are secured, as far as it is given.
struct TLSSettings: Sendable, Hashable {
  var certificate: String?
  var key: String?
  var clientAuthorities: String?
  /// `nil`: required where ``clientAuthorities`` are given, else none.
  var clientCertificates: ServerTLS.ClientCertificates?
  var minimumVersion = ServerTLS.Version.tls12

  /// What the server is told; `nil`: no TLS.
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

/// Which tokens are good, as far as it is given.
struct TokenSettings: Sendable, Hashable {
  var issuer: String?
  var audience: String?
  var keys: String?
  var leeway = Duration.seconds(60)
  var scopePrefix: String?

  /// What the authenticator is told; `nil`: tokens are not looked at.
  var configuration: TokenConfiguration? {
    guard let issuer, let audience, let keys else { return nil }
    var tokens = TokenConfiguration(issuer: issuer, audience: audience, keys: keys)
    tokens.leeway = self.leeway
    tokens.scopePrefix = self.scopePrefix ?? ""
    return tokens
  }
}
