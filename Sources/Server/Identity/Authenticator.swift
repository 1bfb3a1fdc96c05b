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
