public import Foundation

/// A secret with which resume tokens are signed. Servers that share one accept each other's tokens.
public struct ResumeKey: Sendable, Hashable {
  /// Names the key in tokens, so that keys can be changed one after the other; at most 64 bytes.
  public let id: String
  /// At least 32 random bytes.
  public let secret: Data

  /// - Parameters:
  ///   - id: Names the key in tokens.
  ///   - secret: At least 32 random bytes.
  /// - Precondition: The secret has that length, and the name too: whoever guesses a key signs tokens.
  public init(id: String, secret: Data) {
    precondition(secret.count >= 32, "a resume key has at least 32 bytes")
    precondition(id.utf8.count <= 64, "a resume key's name has at most 64 bytes")
    self.id = id
    self.secret = secret
  }

  /// A key that no other server has: sessions are resumed on this one only, until it stops.
  public static func random() -> ResumeKey {
    var generator = SystemRandomNumberGenerator()
    return ResumeKey(
      id: "random",
      secret: Data((0 ..< 32).map { _ in .random(in: .min ... .max, using: &generator) })
    )
  }
}
