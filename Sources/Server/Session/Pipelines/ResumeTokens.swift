import Crypto
package import Foundation
import GRPCCore
import SidelightWire
import SwiftProtobuf

/// Signs the state of a session as a token, and verifies tokens.
///
/// A token is not encrypted: it contains its client's own selection. The signature (HMAC-SHA-256)
/// proves that a server with the key wrote it, which prevents a client from removing an operator's
/// override using a forged token. A token from before an override is valid until it expires: the
/// server of the override finds the override by the token's lineage and the session's label
/// (``OverrideStore``), and on other servers the short lifetime bounds the use of such a token.
package struct ResumeTokens: Sendable {
  private let terms: LockedValue<(keys: [ResumeKey], lifetime: Duration)>
  /// The caller for whom tokens are signed, or empty if callers are not authenticated.
  private var owner = ""
  /// The participant for whom tokens are signed, or empty for the caller itself.
  private var participant = ""

  /// - Parameters:
  ///   - keys: The first key signs; all are accepted. An empty list disables tokens.
  ///   - lifetime: The time for which a token is valid.
  package init(keys: [ResumeKey], lifetime: Duration) {
    self.terms = LockedValue((keys, lifetime))
  }

  /// Changes keys and lifetime, including the terms of copies that are bound to a caller.
  package func update(keys: [ResumeKey], lifetime: Duration) {
    self.terms.value = (keys, lifetime)
  }

  /// The time for which a token is valid.
  package var lifetime: Duration { self.terms.value.lifetime }

  /// Returns a copy whose tokens are valid for one caller, and for one of its participants, only.
  ///
  /// The signature covers both names, but the token does not contain them, which keeps its owner
  /// private.
  ///
  /// - Parameters:
  ///   - owner: The caller's authenticated name, or `nil` if callers are not authenticated, because
  ///     addresses change from one connection to the next.
  ///   - participant: The participant's name, or empty for the caller itself.
  package func bound(to owner: String?, participant: String = "") -> ResumeTokens {
    var tokens = self
    tokens.owner = owner ?? ""
    tokens.participant = participant
    return tokens
  }

  package var isEnabled: Bool { !self.terms.value.keys.isEmpty }

  /// The key that signs, or `nil` if tokens are disabled.
  package var signingKey: ResumeKey? { self.terms.value.keys.first }

  /// Returns a signed token, or empty if tokens are disabled.
  package func sign(_ state: Sidelight_V1_ResumeState) -> Data {
    // Messages without required fields can always be serialized.
    guard let key = self.signingKey, let bytes: Data = try? state.serializedBytes() else {
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

  /// Verifies a token and returns its state.
  ///
  /// - Parameter now: The time in nanoseconds since 1970.
  /// - Throws: ``FieldViolation`` with FAILED_PRECONDITION for a token that has expired or is
  ///   invalid. The error does not state why a token is invalid.
  package func verify(
    _ token: Data, at now: UInt64
  ) throws(FieldViolation) -> Sidelight_V1_ResumeState {
    let refused = FieldViolation(
      code: .failedPrecondition, field: "open.resume_token",
      reason: "is not one of this server's; open a session with a pipeline")
    guard token.count <= ContractLimits.maxResumeTokenBytes,
      let parsed = try? Sidelight_V1_ResumeToken(serializedBytes: token),
      let key = self.terms.value.keys.first(where: { $0.id == parsed.keyID }),
      HMAC<SHA256>.isValidAuthenticationCode(
        parsed.signature, authenticating: self.message(key, parsed.state),
        using: SymmetricKey(data: key.secret)),
      let state = try? Sidelight_V1_ResumeState(serializedBytes: parsed.state)
    else { throw refused }
    guard Int64(clamping: now) < state.expiresNs else {
      throw FieldViolation(
        code: .failedPrecondition, field: "open.resume_token",
        reason: "has expired; open a session with a pipeline")
    }
    return state
  }

  /// Returns the signed bytes: the names of key, owner and participant with their lengths, then the
  /// state. The lengths make the encoding unambiguous.
  ///
  /// Without a participant the bytes are the same as on servers that do not know participants. With
  /// one they begin with a length that no key's name has.
  private func message(_ key: ResumeKey, _ state: Data) -> Data {
    var message = Data()
    func append(_ number: Int) {
      withUnsafeBytes(of: UInt32(clamping: number).littleEndian) { message.append(contentsOf: $0) }
    }
    var names = [key.id, self.owner]
    if !self.participant.isEmpty {
      append(.max)
      names.append(self.participant)
    }
    for name in names {
      append(name.utf8.count)
      message.append(contentsOf: name.utf8)
    }
    message.append(state)
    return message
  }
}

/// The identity of a session and of all sessions that resume it: 16 random bytes, which resume
/// tokens contain.
package struct SessionLineage: Sendable, Hashable {
  package let bytes: Data

  /// Creates a new lineage.
  package init() {
    var generator = SystemRandomNumberGenerator()
    self.bytes = Data((0 ..< 16).map { _ in .random(in: .min ... .max, using: &generator) })
  }

  /// Creates the lineage that a token names.
  ///
  /// - Parameter bytes: The bytes from a verified token. If empty, as in tokens of older servers,
  ///   they create a new lineage.
  package init(token bytes: Data) {
    self.bytes = bytes.count == 16 ? bytes : Self().bytes
  }
}
