import SidelightTransport
import Synchronization

/// Identifies callers using the credentials of the call and of its connection.
final class Authorizer: Sendable {
  private struct State {
    var rules: IdentityConfiguration
    /// Whether callers must authenticate. Once `true` it stays `true`, because empty new rules must
    /// not open a closed server to all callers.
    var requiresAuthentication: Bool
  }

  private let authenticator: (any Authenticator)?
  private let state: Mutex<State>

  /// - Parameters:
  ///   - authenticator: The authenticator of bearer tokens. `nil` ignores the header.
  ///   - rules: The scopes of callers that their connection identifies.
  ///   - requestsCertificates: Whether connections ask for certificates of clients.
  init(
    authenticator: (any Authenticator)?, rules: IdentityConfiguration, requestsCertificates: Bool
  ) {
    self.authenticator = authenticator
    self.state = Mutex(
      State(
        rules: rules,
        requiresAuthentication: authenticator != nil || requestsCertificates
          || rules.usesUnixCredentials))
  }

  /// The scopes of callers that their connection identifies, for new calls.
  var rules: IdentityConfiguration {
    get { self.state.withLock { $0.rules } }
    set {
      self.state.withLock { state in
        state.rules = newValue
        if newValue.usesUnixCredentials { state.requiresAuthentication = true }
      }
    }
  }

  /// Whether callers can authenticate using tokens.
  var acceptsTokens: Bool { self.authenticator != nil }

  /// Whether callers must authenticate.
  var requiresAuthentication: Bool { self.state.withLock(\.requiresAuthentication) }

  /// Requires callers to authenticate from now on.
  func requireAuthentication() {
    self.state.withLock { $0.requiresAuthentication = true }
  }

  /// Returns the caller.
  ///
  /// A token takes precedence over a certificate; a certificate does not replace an invalid token.
  ///
  /// - Parameters:
  ///   - authorization: The values of the call's `authorization` header.
  ///   - connection: The connection of the call.
  ///   - now: The time since 1970.
  /// - Returns: The caller, or `nil` if the server does not authenticate callers.
  /// - Throws: ``AuthenticationFailure`` if the call doesn't have valid credentials.
  func principal(
    authorization: [String], on connection: Connection, at now: Duration
  ) async throws(AuthenticationFailure) -> Principal? {
    if let principal = try await self.principal(authorization: authorization, at: now) {
      return principal
    }
    let (rules, isRequired) = self.state.withLock { ($0.rules, $0.requiresAuthentication) }
    if let certificate = connection.certificate {
      return try Self.current(Self.principal(certificate, rules), at: now)
    }
    if let credentials = connection.credentials, rules.usesUnixCredentials {
      return try Self.principal(credentials, rules)
    }
    guard !isRequired else {
      throw AuthenticationFailure(.missing, "no token, no certificate and no known user")
    }
    return nil
  }

  /// Returns the caller that a token names; `nil` without a token, or if the server does not accept
  /// tokens.
  ///
  /// - Throws: ``AuthenticationFailure`` if the token is invalid.
  func principal(
    authorization: [String], at now: Duration
  ) async throws(AuthenticationFailure) -> Principal? {
    guard let authenticator, !authorization.isEmpty else { return nil }
    let token = try Self.token(authorization)
    return try Self.current(try await authenticator.authenticate(token: token, at: now), at: now)
  }

  /// Returns the token of a header `Bearer TOKEN`.
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
      throw AuthenticationFailure(.expired, "the credentials of \(principal.name) have expired")
    }
    return principal
  }

  private static func principal(
    _ certificate: PeerCertificate, _ rules: IdentityConfiguration
  ) -> Principal {
    let rule = rules.certificates.first { rule in certificate.names.contains(where: rule.matches) }
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
