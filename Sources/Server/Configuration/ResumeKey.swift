public import Foundation

/// A secret key that signs resume tokens. Servers using the same key accept one another's tokens.
public struct ResumeKey: Sendable, Hashable {
  /// The key's name in tokens, for key rotation; at most 64 bytes.
  public let id: String
  /// At least 32 random bytes.
  public let secret: Data

  /// - Parameters:
  ///   - id: The key's name in tokens, at most 64 bytes.
  ///   - secret: At least 32 random bytes.
  /// - Precondition: The secret and the name have these lengths.
  public init(id: String, secret: Data) {
    precondition(secret.count >= 32, "a resume key must have at least 32 bytes")
    precondition(id.utf8.count <= 64, "the name of a resume key must have at most 64 bytes")
    self.id = id
    self.secret = secret
  }

  /// Returns a random key: sessions can be resumed on this server only, until it stops.
  public static func random() -> ResumeKey {
    var generator = SystemRandomNumberGenerator()
    return ResumeKey(
      id: "random",
      secret: Data((0 ..< 32).map { _ in .random(in: .min ... .max, using: &generator) })
    )
  }
}
