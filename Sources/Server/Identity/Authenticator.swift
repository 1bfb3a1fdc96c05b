/// Validates bearer tokens. `SidelightIdentity` has an authenticator for JSON web tokens.
///
/// The server calls it for every call before any other work, and concurrently. It must not wait for
/// another machine: clients without valid tokens could then keep it busy.
public protocol Authenticator: Sendable {
  /// Returns the caller that a token identifies, and its scopes.
  ///
  /// - Parameters:
  ///   - token: The text after `Bearer` in the call's `authorization` header, not yet parsed.
  ///   - now: The time since 1970, by the server's clock.
  /// - Throws: ``AuthenticationFailure`` if the token is invalid for any reason.
  func authenticate(
    token: String, at now: Duration
  ) async throws(AuthenticationFailure) -> Principal
}

/// A reason for which a caller cannot be identified.
public struct AuthenticationFailure: Error, Sendable, Hashable {
  /// The reason that the response states, without details: a caller that guesses tokens doesn't
  /// learn from it.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The call lacks credentials: a token, a certificate, or a known user.
    case missing = "CREDENTIALS_MISSING"
    /// The token is invalid.
    case invalid = "TOKEN_INVALID"
    /// The token or certificate was valid and has expired; a newer one can succeed.
    case expired = "CREDENTIALS_EXPIRED"
  }

  /// The reason stated in the response.
  public let reason: Reason
  /// The detail, which is logged at debug level. It never contains a secret.
  public let detail: String

  /// - Parameters:
  ///   - reason: The reason stated in the response.
  ///   - detail: The logged detail. It must not contain the token.
  public init(_ reason: Reason, _ detail: String) {
    self.reason = reason
    self.detail = detail
  }
}
