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
