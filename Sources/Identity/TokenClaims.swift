import JWTKit
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

  /// Does nothing: validation depends on the time and the configuration; see ``principal(by:at:)``.
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
      scopes: self.scopes(prefix: configuration.scopePrefix), expires: expires)
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
