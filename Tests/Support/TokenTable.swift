package import SidelightServer

/// An authenticator with a table of tokens.
package struct TokenTable: Authenticator {
  /// The callers by their tokens.
  package var principals: [String: Principal]

  /// Creates a table of callers by their tokens.
  package init(_ principals: [String: Principal]) {
    self.principals = principals
  }

  /// Returns the caller of a token.
  ///
  /// - Throws: `AuthenticationFailure` with `.invalid` if the token is not in the table.
  package func authenticate(
    token: String, at now: Duration
  ) async throws(AuthenticationFailure) -> Principal {
    guard let principal = self.principals[token] else {
      throw AuthenticationFailure(.invalid, "not in the table")
    }
    return principal
  }
}

extension TokenTable {
  /// Two participants, an operator, and a caller without permissions, by their names.
  package static let three = TokenTable([
    "alice": Principal(name: "sub:alice@test", scopes: .participant),
    "bob": Principal(name: "sub:bob@test", scopes: .participant),
    "operator": Principal(name: "sub:operator@test", scopes: [.operate]),
    "nobody": Principal(name: "sub:nobody@test", scopes: []),
  ])
}
