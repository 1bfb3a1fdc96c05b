/// What a client says on the companion socket: which ring it comes for.
///
/// One byte, the version, 1; the token's 32 bytes; one byte, the length of the session's name; the
/// name. The server answers with one byte, a ``CompanionAnswer``, and closes the connection.
package struct CompanionHello: Sendable, Hashable {
  /// From `Opened`.
  package var token: [UInt8]
  /// From `Opened`.
  package var sessionID: String

  /// Bytes of a token.
  package static let tokenBytes = 32
  private static let version: UInt8 = 1
  private static let nameStart = 2 + Self.tokenBytes
  /// The longest hello.
  package static let maxBytes = Self.nameStart + Int(UInt8.max)

  /// - Precondition: The token has 32 bytes, and the name at most 255.
  package init(token: [UInt8], sessionID: String) {
    precondition(token.count == Self.tokenBytes && sessionID.utf8.count <= Int(UInt8.max))
    self.token = token
    self.sessionID = sessionID
  }

  /// What is sent.
  package var bytes: [UInt8] {
    [Self.version] + self.token + [UInt8(self.sessionID.utf8.count)] + Array(self.sessionID.utf8)
  }

  /// What bytes that came say.
  package enum Reading: Sendable, Hashable {
    /// More must come.
    case incomplete
    /// No hello begins like this.
    case malformed
    case complete(CompanionHello)
  }

  /// Reads as much as has come.
  package static func read(_ bytes: [UInt8]) -> Reading {
    if let version = bytes.first, version != Self.version { return .malformed }
    guard bytes.count >= Self.nameStart else { return .incomplete }
    let end = Self.nameStart + Int(bytes[Self.nameStart - 1])
    guard bytes.count <= end else { return .malformed }
    guard bytes.count == end else { return .incomplete }
    guard let sessionID = String(validating: bytes[Self.nameStart...], as: UTF8.self) else {
      return .malformed
    }
    return .complete(
      CompanionHello(token: Array(bytes[1 ..< Self.nameStart - 1]), sessionID: sessionID))
  }
}

/// What a server answers on the companion socket, in one byte.
package enum CompanionAnswer: UInt8, Sendable, Hashable, CaseIterable {
  /// The ring's descriptor comes with this byte.
  case ring = 0
  /// The token is not good: never issued, used before, expired, or another session's. Or what came
  /// was no hello.
  case refused = 1
  /// The process runs as a user that the server hands no rings to.
  case notPermitted = 2
  /// Too many connections wait.
  case busy = 3
}
