import Foundation

/// The contents of a token; valid unless a test changes them.
struct Token {
  /// The header fields; the signing key determines missing ones.
  var header: [String: Any] = [:]
  var claims: [String: Any] = [
    "iss": Token.issuer, "sub": "alice", "aud": Token.audience,
    "exp": Token.now + 600, "scope": "stream introspect",
  ]

  static let issuer = "https://id.example"
  static let audience = "sidelight"
  /// The time since 1970 in these tests, in seconds.
  static let now = 1_800_000_000

  /// Returns the signed token in compact form.
  ///
  /// - Parameters:
  ///   - key: The signing key.
  ///   - id: The key's ID (`kid`).
  func text(_ key: SigningKey, id: String) throws -> String {
    var header = self.header
    if header["alg"] == nil { header["alg"] = key.algorithm }
    if header["kid"] == nil { header["kid"] = id }
    let message = try Self.json(header) + "." + Self.json(self.claims)
    return message + "." + (try key.sign(Data(message.utf8))).base64URL
  }

  static func json(_ object: [String: Any]) throws -> String {
    let object = object.filter { !($0.value is NSNull) }
    return try JSONSerialization.data(withJSONObject: object).base64URL
  }
}
