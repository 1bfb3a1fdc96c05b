/// Says whose a bearer token is. `SidelightIdentity` has one for JSON web tokens.
///
/// It is asked before anything else is done for a call, as often as there are calls, and at the same
/// time. It must not wait for another machine: whoever calls could then keep it busy.
public protocol Authenticator: Sendable {
  /// Says whose a token is, and what he may do.
  ///
  /// - Parameters:
  ///   - token: What stood behind `Bearer` in the call's `authorization`, unread.
  ///   - now: The time since 1970, by the server's clock.
  /// - Throws: ``AuthenticationFailure`` if it is not good, whatever the reason.
  func authenticate(
    token: String, at now: Duration
  ) async throws(AuthenticationFailure) -> Principal
}
