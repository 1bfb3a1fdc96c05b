import SidelightTransport
import Synchronization

/// Says who calls, by what the call and its connection prove.
final class Gatekeeper: Sendable {
  private struct State {
    var rules: IdentityConfiguration
    /// Whether callers are asked who they are. Once they are, they always are: a server that was closed is
    /// not opened to everybody by rules that name nobody any more.
    var asks: Bool
  }

  private let authenticator: (any Authenticator)?
  private let state: Mutex<State>

  /// - Parameters:
  ///   - authenticator: For bearer tokens; none: they are not looked at.
  ///   - configuration: Who may call.
  init(authenticator: (any Authenticator)?, configuration: ServerConfiguration) {
    self.authenticator = authenticator
    let asksForCertificates = (configuration.tls?.clientCertificates ?? .none) != .none
    self.state = Mutex(
      State(
        rules: configuration.identity,
        asks: authenticator != nil || asksForCertificates || configuration.identity.asksForUnixPeers
      ))
  }

  /// Who may call by what his connection proves, for calls that begin from now on.
  var rules: IdentityConfiguration {
    get { self.state.withLock { $0.rules } }
    set {
      self.state.withLock { state in
        state.rules = newValue
        if newValue.asksForUnixPeers { state.asks = true }
      }
    }
  }

  /// From now on callers are asked who they are.
  func ask() {
    self.state.withLock { $0.asks = true }
  }

  /// Says who calls.
  ///
  /// A token counts before anything else; one that is not good is not made up for by a certificate.
  ///
  /// - Parameters:
  ///   - authorization: The values of the call's header of that name.
  ///   - connection: On which it came.
  ///   - now: The time since 1970.
  /// - Returns: `nil` if this server asks nobody who he is.
  /// - Throws: ``AuthenticationFailure``.
  func principal(
    authorization: [String], on connection: Connection, at now: Duration
  ) async throws(AuthenticationFailure) -> Principal? {
    if let authenticator, !authorization.isEmpty {
      let token = try Self.token(authorization)
      return try Self.current(try await authenticator.authenticate(token: token, at: now), at: now)
    }
    let (rules, asks) = self.state.withLock { ($0.rules, $0.asks) }
    if let certificate = connection.certificate {
      return try Self.current(Self.principal(certificate, rules), at: now)
    }
    if let credentials = connection.credentials, rules.asksForUnixPeers {
      return try Self.principal(credentials, rules)
    }
    guard !asks else {
      throw AuthenticationFailure(.missing, "neither token nor certificate nor a known user")
    }
    return nil
  }

  /// What stands behind `Bearer`.
  private static func token(
    _ authorization: [String]
  ) throws(AuthenticationFailure) -> String {
    guard authorization.count == 1 else {
      throw AuthenticationFailure(.invalid, "\(authorization.count) values of authorization")
    }
    let parts = authorization[0].split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].lowercased() == "bearer", !parts[1].isEmpty else {
      throw AuthenticationFailure(.invalid, "authorization is not Bearer and a token")
    }
    return String(parts[1])
  }

  private static func current(
    _ principal: Principal, at now: Duration
  ) throws(AuthenticationFailure) -> Principal {
    if let expires = principal.expires, now >= expires {
      throw AuthenticationFailure(.expired, "the proof of \(principal.name) has expired")
    }
    return principal
  }

  private static func principal(
    _ certificate: PeerCertificate, _ rules: IdentityConfiguration
  ) -> Principal {
    let rule = rules.certificates.first { rule in certificate.names.contains(where: rule.fits) }
    return Principal(
      name: "cert:\(certificate.name)", scopes: rule?.scopes ?? [], expires: certificate.expires)
  }

  private static func principal(
    _ peer: PeerCredentials, _ rules: IdentityConfiguration
  ) throws(AuthenticationFailure) -> Principal {
    let (byUser, byGroup) = (rules.unixUsers[peer.uid], rules.unixGroups[peer.gid])
    guard byUser != nil || byGroup != nil else {
      throw AuthenticationFailure(.missing, "user \(peer.uid) and group \(peer.gid) are not known")
    }
    return Principal(
      name: "unix:uid=\(peer.uid)", scopes: (byUser ?? []).union(byGroup ?? []))
  }
}
