import Foundation
import JWTKit
import SidelightKernels
import SidelightServer

/// The claims of a token with a valid signature.
struct TokenClaims: JWTPayload {
  /// A claim of one or several texts.
  enum Texts: Codable, Sendable {
    case one(String)
    case several([String])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let text = try? container.decode(String.self) {
        self = .one(text)
      } else {
        self = .several(try container.decode([String].self))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .one(let text): try container.encode(text)
      case .several(let texts): try container.encode(texts)
      }
    }

    var all: [String] {
      switch self {
      case .one(let text): [text]
      case .several(let texts): texts
      }
    }
  }

  /// The issuer.
  var iss: String?
  /// The subject.
  var sub: String?
  /// The audience.
  var aud: Texts?
  /// The time of expiry, in seconds since the Unix epoch.
  var exp: Double?
  /// The time before which it is not valid, in seconds since the Unix epoch.
  var nbf: Double?
  /// The scopes, separated by spaces (RFC 8693, 4.2).
  var scope: String?
  /// The scopes, as other issuers name the claim.
  var scp: Texts?
  /// The filters that the token permits: names, or prefixes that end in `*`. Without the claim the
  /// token permits all.
  var filters: Texts?

  /// Has no effect: validation depends on the time and the configuration; see
  /// ``principal(by:at:)``.
  func verify(using algorithm: some JWTAlgorithm) async throws {}

  /// Validates the claims, and returns the principal with its scopes.
  ///
  /// - Throws: ``AuthenticationFailure``.
  func principal(
    by configuration: TokenConfiguration, at now: Duration
  ) throws(AuthenticationFailure) -> Principal {
    guard self.iss == configuration.issuer else {
      throw AuthenticationFailure(.invalid, "the issuer is not the configured one")
    }
    guard self.aud?.all.contains(configuration.audience) == true else {
      throw AuthenticationFailure(.invalid, "the audience does not include this server")
    }
    guard let subject = self.sub, (1 ... 256).contains(subject.utf8.count),
      subject.unicodeScalars.allSatisfy({ !$0.properties.isWhitespace && $0.value >= 0x20 })
    else {
      throw AuthenticationFailure(.invalid, "the subject is not 1 to 256 bytes without spaces")
    }
    guard let end = self.exp.flatMap(Self.time) else {
      throw AuthenticationFailure(.invalid, "there is no valid time of expiry (exp)")
    }
    let expires = end + configuration.leeway
    guard now < expires else { throw AuthenticationFailure(.expired, "it has expired") }
    if let nbf {
      guard let begin = Self.time(nbf), now >= begin - configuration.leeway else {
        throw AuthenticationFailure(.invalid, "it is not valid yet (nbf)")
      }
    }
    return Principal(
      name: "sub:\(subject)@\(configuration.issuer)",
      scopes: self.scopes(prefix: configuration.scopePrefix), expires: expires,
      filters: try self.permittedFilters())
  }

  /// Returns the filters that the token permits. `nil` permits all.
  private func permittedFilters() throws(AuthenticationFailure) -> FilterNameList? {
    guard let filters else { return nil }
    let names =
      switch filters {
      case .one(let text): text.split(separator: " ").map(String.init)
      case .several(let names): names
      }
    do throws(FilterNameError) {
      return try FilterNameList(names)
    } catch {
      throw AuthenticationFailure(.invalid, "the claim filters[\(error.index)] \(error.reason)")
    }
  }

  private func scopes(prefix: String) -> Set<Scope> {
    let names =
      (self.scope.map { [$0] } ?? []).flatMap { $0.split(separator: " ") }
      + (self.scp?.all ?? []).flatMap { $0.split(separator: " ") }
    return Set(
      names.filter { $0.hasPrefix(prefix) }
        .compactMap { Scope(rawValue: String($0.dropFirst(prefix.count))) })
  }

  /// Returns a time between 1970 and 9999, `nil` for any other number.
  private static func time(_ seconds: Double) -> Duration? {
    (0 ... 253_402_300_799).contains(seconds) ? .seconds(seconds) : nil
  }
}

/// The header of a token.
struct TokenHeader: Sendable, Hashable {
  var keyID: String
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
