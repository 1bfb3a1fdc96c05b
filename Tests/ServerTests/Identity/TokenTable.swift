import SidelightServer

/// Knows callers by a table of tokens.
struct TokenTable: Authenticator {
  var principals: [String: Principal]

  init(_ principals: [String: Principal]) {
    self.principals = principals
  }

  func authenticate(
    token: String, at now: Duration
  ) async throws(AuthenticationFailure) -> Principal {
    guard let principal = self.principals[token] else {
      throw AuthenticationFailure(.invalid, "not in the table")
    }
    return principal
  }
}

extension TokenTable {
  /// A participant, an operator, and one who may do nothing, whose tokens are their names.
  static let three = TokenTable([
    "alice": Principal(name: "sub:alice@test", scopes: .participant),
    "bob": Principal(name: "sub:bob@test", scopes: .participant),
    "operator": Principal(name: "sub:operator@test", scopes: [.operate]),
    "nobody": Principal(name: "sub:nobody@test", scopes: []),
  ])
}
