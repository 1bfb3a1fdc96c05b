public import ArgumentParser
import Logging
import SidelightIdentity
public import SidelightServer

/// Options that say how connections are secured and who may call.
struct IdentityOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The server's certificate and its chain, PEM. With it TCP addresses speak TLS only.",
      valueName: "file"))
  var tlsCertificate: String?

  @Option(help: ArgumentHelp("The certificate's key, PEM, not encrypted.", valueName: "file"))
  var tlsKey: String?

  @Option(
    help: ArgumentHelp("The authorities that sign clients' certificates, PEM.", valueName: "file"))
  var tlsClientCA: String?

  @Option(
    help: ArgumentHelp(
      "Whether clients show certificates. (default: required with --tls-client-ca, else none)",
      valueName: "none|optional|required"))
  var tlsClientCertificates: ServerTLS.ClientCertificates?

  @Option(help: ArgumentHelp("The oldest TLS that is spoken.", valueName: "1.2|1.3"))
  var tlsMinVersion = ServerTLS.Version.tls12

  @Option(help: ArgumentHelp("Whose tokens (JWT) are good: their iss.", valueName: "text"))
  var tokenIssuer: String?

  @Option(help: ArgumentHelp("For whom tokens must be: their aud.", valueName: "text"))
  var tokenAudience: String?

  @Option(help: ArgumentHelp("The issuer's keys, a JSON web key set.", valueName: "file"))
  var tokenKeys: String?

  @Option(
    help: ArgumentHelp(
      "By how much clocks may differ when a token begins and expires.", valueName: "seconds"))
  var tokenLeeway = 60.0

  @Option(
    help: ArgumentHelp("What stands before the names of scopes in tokens.", valueName: "text"))
  var tokenScopePrefix = ""

  @Option(
    help: ArgumentHelp(
      "Let processes of a user do this over Unix sockets: 1000=stream,assets. May be repeated.",
      valueName: "uid=scopes"))
  var allowUnixUser: [String] = []

  @Option(
    help: ArgumentHelp(
      "Let processes of a group do this over Unix sockets. May be repeated.",
      valueName: "gid=scopes"))
  var allowUnixGroup: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      Let clients with a certificate do this: 'dns:*.example=stream', the first that fits. May be \
      repeated. (default: '*=stream,assets,introspect')
      """, valueName: "name=scopes"))
  var allowCertificate: [String] = []

  @Option(
    help: ArgumentHelp("Frames a second that one caller may send.", valueName: "count"))
  var callerFramesPerSecond: Double?

  @Option(
    help: ArgumentHelp("Bytes of frames a second that one caller may send.", valueName: "bytes"))
  var callerBytesPerSecond: Double?

  func validate() throws {
    var configuration = ServerConfiguration()
    try self.apply(to: &configuration)
    try Self.explaining { try configuration.quotas.validate() }
    try Self.explaining { try self.tokens?.validate() }
    let given = [self.tokenIssuer, self.tokenAudience, self.tokenKeys].compactMap(\.self).count
    guard given == 0 || given == 3 else {
      throw ValidationError("--token-issuer, --token-audience and --token-keys belong together.")
    }
    guard (self.tlsCertificate == nil) == (self.tlsKey == nil) else {
      throw ValidationError("--tls-certificate and --tls-key belong together.")
    }
    let asksForCertificates = (self.tlsClientCertificates ?? .none) != .none
    guard self.tlsCertificate != nil || (self.tlsClientCA == nil && !asksForCertificates) else {
      throw ValidationError(
        "Clients show certificates over TLS only: --tls-certificate is missing.")
    }
    guard self.tlsClientCA != nil || !asksForCertificates else {
      throw ValidationError("--tls-client-ca is missing: who signs clients' certificates?")
    }
  }

  /// Writes what the options come to into a server's configuration.
  func apply(to configuration: inout ServerConfiguration) throws {
    if let certificate = self.tlsCertificate, let key = self.tlsKey {
      var tls = ServerTLS(certificateChain: certificate, privateKey: key)
      tls.clientAuthorities = self.tlsClientCA
      tls.clientCertificates =
        self.tlsClientCertificates ?? (self.tlsClientCA == nil ? .none : .required)
      tls.minimumVersion = self.tlsMinVersion
      configuration.tls = tls
    }
    try Self.explaining {
      for grant in try Self.grants(self.allowUnixUser, "--allow-unix-user") {
        configuration.identity.unixUsers[try Self.id(grant, "--allow-unix-user")] = grant.scopes
      }
      for grant in try Self.grants(self.allowUnixGroup, "--allow-unix-group") {
        configuration.identity.unixGroups[try Self.id(grant, "--allow-unix-group")] = grant.scopes
      }
      if !self.allowCertificate.isEmpty {
        configuration.identity.certificates =
          try Self.grants(self.allowCertificate, "--allow-certificate")
          .map { CertificateRule(name: $0.name, scopes: $0.scopes) }
      }
    }
    configuration.quotas.framesPerSecond = self.callerFramesPerSecond
    configuration.quotas.bytesPerSecond = self.callerBytesPerSecond
  }

  /// Knows callers by their tokens; `nil` if tokens are not looked at.
  ///
  /// - Throws: `KeySetFault` if there are no keys.
  func authenticator(logger: Logger) async throws -> TokenAuthenticator? {
    guard let tokens else { return nil }
    return try await TokenAuthenticator(tokens, logger: logger)
  }

  private var tokens: TokenConfiguration? {
    guard let tokenIssuer, let tokenAudience, let tokenKeys else { return nil }
    var tokens = TokenConfiguration(
      issuer: tokenIssuer, audience: tokenAudience, keys: tokenKeys)
    tokens.leeway = .seconds(self.tokenLeeway)
    tokens.scopePrefix = self.tokenScopePrefix
    return tokens
  }

  private static func grants(
    _ texts: [String], _ option: String
  ) throws(ConfigurationFault) -> [ScopeGrant] {
    var grants: [ScopeGrant] = []
    for text in texts { grants.append(try ScopeGrant(text, setting: option)) }
    return grants
  }

  private static func id(
    _ grant: ScopeGrant, _ option: String
  ) throws(ConfigurationFault) -> UInt32 {
    guard let id = UInt32(grant.name) else {
      throw ConfigurationFault(setting: option, value: grant.name, range: "0 to \(UInt32.max)")
    }
    return id
  }

  private static func explaining(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let fault as ConfigurationFault {
      throw ValidationError("\(fault).")
    }
  }
}

extension ServerTLS.ClientCertificates: ExpressibleByArgument {}
extension ServerTLS.Version: ExpressibleByArgument {}
