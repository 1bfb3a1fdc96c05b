import Foundation
import SidelightServer

/// The header of a token.
struct TokenHeader: Sendable, Hashable {
  /// The ID of the key.
  var keyID: String
  /// The algorithm.
  var algorithm: String

  /// The maximum length of a token in bytes.
  static let maxTokenBytes = 8192
  private static let maxNameBytes = 256

  private struct Fields: Decodable {
    var alg: String
    var kid: String?
    var crit: [String]?
  }

  /// Parses the header of a token, and checks the form of the rest.
  ///
  /// - Throws: ``AuthenticationFailure``.
  init(of token: String) throws(AuthenticationFailure) {
    let count = token.utf8.count
    guard count <= Self.maxTokenBytes else {
      throw AuthenticationFailure(
        .invalid, "the token has \(count) bytes; the limit is \(Self.maxTokenBytes)")
    }
    let parts = token.utf8.split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    // A token without a signature has an empty third part.
    guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isBase64URL) })
    else { throw AuthenticationFailure(.invalid, "the token is not three parts of base64url") }
    guard let data = Self.decode(parts[0]),
      let fields = try? JSONDecoder().decode(Fields.self, from: data)
    else { throw AuthenticationFailure(.invalid, "the header is not JSON with alg") }
    // RFC 7515, 4.1.11: unknown critical extensions make a token invalid.
    guard fields.crit == nil else {
      throw AuthenticationFailure(.invalid, "the header has critical extensions")
    }
    guard let keyID = fields.kid, !keyID.isEmpty, keyID.utf8.count <= Self.maxNameBytes else {
      throw AuthenticationFailure(.invalid, "the header has no key ID (kid)")
    }
    guard fields.alg.utf8.count <= 16 else {
      throw AuthenticationFailure(.invalid, "the algorithm is unknown")
    }
    self.keyID = keyID
    self.algorithm = fields.alg
  }

  private static func isBase64URL(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A") ... UInt8(ascii: "Z"), UInt8(ascii: "a") ... UInt8(ascii: "z"),
      UInt8(ascii: "0") ... UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Decodes Base64 for URLs, without padding (RFC 7515, appendix C).
  private static func decode(_ text: Substring.UTF8View.SubSequence) -> Data? {
    var bytes = text.map { byte in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    while bytes.count % 4 != 0 { bytes.append(UInt8(ascii: "=")) }
    return Data(base64Encoded: Data(bytes))
  }
}
