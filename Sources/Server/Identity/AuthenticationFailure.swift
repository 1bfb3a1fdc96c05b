/// Why nobody knows who calls.
public struct AuthenticationFailure: Error, Sendable, Hashable {
  /// What the caller is told, and no more: whoever tries tokens shall not learn how far he came.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// There is no proof: neither token nor certificate nor a known user.
    case missing = "CREDENTIALS_MISSING"
    /// There is a token, and it is not good.
    case invalid = "TOKEN_INVALID"
    /// There was a good token or certificate, and its time is over: another one would do.
    case expired = "CREDENTIALS_EXPIRED"
  }

  /// What the caller is told.
  public let reason: Reason
  /// What the log is told, at debug level. Holds nothing secret.
  public let detail: String

  /// - Parameters:
  ///   - reason: What the caller is told.
  ///   - detail: What the log is told. Never the token.
  public init(_ reason: Reason, _ detail: String) {
    self.reason = reason
    self.detail = detail
  }
}
