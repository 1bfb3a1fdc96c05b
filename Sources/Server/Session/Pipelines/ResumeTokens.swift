import Crypto
public import Foundation
import GRPCCore
import SidelightWire
import SwiftProtobuf

/// Signs what a session needs to be restored, and reads it back.
///
/// A token is no secret and hides nothing: it holds what its client selected. The signature
/// (HMAC-SHA-256) says that a server with the key wrote it, so that no client lifts an operator's
/// override by writing a token itself. A token from before an override is good until it expires: the
/// server of the override finds it by the token's lineage (``OverrideStore``), and on other servers the
/// short lifetime bounds what such a token is good for.
package struct ResumeTokens: Sendable {
  private let terms: Adjustable<(keys: [ResumeKey], lifetime: Duration)>
  /// Whose tokens they are; empty: nobody's.
  private var owner = ""

  /// - Parameters:
  ///   - keys: The first signs; all are accepted. None: nothing is resumed.
  ///   - lifetime: How long a token is good.
  package init(keys: [ResumeKey], lifetime: Duration) {
    self.terms = Adjustable((keys, lifetime))
  }

  /// Signs and accepts by other keys from now on, for all who hold these.
  package func update(keys: [ResumeKey], lifetime: Duration) {
    self.terms.value = (keys, lifetime)
  }

  /// How long a token is good.
  package var lifetime: Duration { self.terms.value.lifetime }

  /// The same for one caller: a token that is signed for him is good for him only.
  ///
  /// His name is signed with the rest, but is not in the token, so that whoever sees one does not learn
  /// whose it is.
  ///
  /// - Parameter owner: Who he has proved to be; `nil` if nobody was asked, as addresses change from one
  ///   connection to the next.
  package func bound(to owner: String?) -> ResumeTokens {
    var tokens = self
    tokens.owner = owner ?? ""
    return tokens
  }

  /// Whether sessions can be resumed.
  package var isEnabled: Bool { !self.terms.value.keys.isEmpty }

  /// The key that signs; `nil` if nothing is resumed.
  package var signingKey: ResumeKey? { self.terms.value.keys.first }

  /// Makes a token; empty if nothing is resumed.
  package func sign(_ state: Sidelight_V1_ResumeState) -> Data {
    guard let key = self.signingKey, let bytes: Data = try? state.serializedBytes()
    else {
      return Data()
    }
    let token = Sidelight_V1_ResumeToken.with {
      $0.keyID = key.id
      $0.state = bytes
      $0.signature = Data(
        HMAC<SHA256>.authenticationCode(
          for: self.message(key, bytes), using: SymmetricKey(data: key.secret)))
    }
    return (try? token.serializedBytes()) ?? Data()
  }

  /// Reads a token.
  ///
  /// - Parameter now: Nanoseconds since 1970.
  /// - Throws: ``FieldFault`` with FAILED_PRECONDITION for a token that this server did not or would
  ///   not sign, or that has expired. Which of the first it is, is not said.
  package func verify(_ token: Data, at now: UInt64) throws(FieldFault) -> Sidelight_V1_ResumeState
  {
    let refused = FieldFault(
      code: .failedPrecondition, field: "open.resume_token",
      reason: "is not one of this server's; open a session with a pipeline")
    // A pipeline has a largest size, and so has a token.
    guard token.count <= ContractLimits.maxResumeTokenBytes,
      let parsed = try? Sidelight_V1_ResumeToken(serializedBytes: token),
      let key = self.terms.value.keys.first(where: { $0.id == parsed.keyID }),
      HMAC<SHA256>.isValidAuthenticationCode(
        parsed.signature, authenticating: self.message(key, parsed.state),
        using: SymmetricKey(data: key.secret)),
      let state = try? Sidelight_V1_ResumeState(serializedBytes: parsed.state)
    else { throw refused }
    guard Int64(clamping: now) < state.expiresNs else {
      throw FieldFault(
        code: .failedPrecondition, field: "open.resume_token",
        reason: "has expired; open a session with a pipeline")
    }
    return state
  }

  /// What is signed: the names of key and owner too, with their lengths, so that no two tokens read
  /// alike.
  private func message(_ key: ResumeKey, _ state: Data) -> Data {
    var message = Data()
    for name in [key.id, self.owner] {
      withUnsafeBytes(of: UInt32(name.utf8.count).littleEndian) { message.append(contentsOf: $0) }
      message.append(contentsOf: name.utf8)
    }
    message.append(state)
    return message
  }
}

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

/// Names a session together with those that it resumes and those that resume it: 16 random bytes, which
/// travel in resume tokens.
package struct SessionLineage: Sendable, Hashable {
  /// The bytes, as a token holds them.
  package let bytes: Data

  /// A lineage that begins.
  package init() {
    var generator = SystemRandomNumberGenerator()
    self.bytes = Data((0 ..< 16).map { _ in .random(in: .min ... .max, using: &generator) })
  }

  /// The lineage that a token names.
  ///
  /// - Parameter bytes: From a verified token. A new lineage begins where there are none: tokens of
  ///   older servers name none.
  package init(token bytes: Data) {
    self.bytes = bytes.count == 16 ? bytes : Self().bytes
  }
}
