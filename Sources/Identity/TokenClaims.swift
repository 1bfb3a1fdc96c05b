import JWTKit
import SidelightServer

/// What a token whose signature is good says.
struct TokenClaims: JWTPayload {
  /// A claim that is one text, or several.
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

  /// Who issued it.
  var iss: String?
  /// Whose it is.
  var sub: String?
  /// For whom.
  var aud: Texts?
  /// When it ends, in seconds since 1970.
  var exp: Double?
  /// When it begins.
  var nbf: Double?
  /// What its owner may do, separated by spaces (RFC 8693, 4.2).
  var scope: String?
  /// The same as others write it.
  var scp: Texts?

  /// Nothing: what is asked of claims depends on the time and the configuration.
  func verify(using algorithm: some JWTAlgorithm) async throws {}

  /// Whose the token is, and what he may do.
  ///
  /// - Throws: ``AuthenticationFailure``.
  func principal(
    by configuration: TokenConfiguration, at now: Duration
  ) throws(AuthenticationFailure) -> Principal {
    guard self.iss == configuration.issuer else {
      throw AuthenticationFailure(.invalid, "the issuer is another")
    }
    guard self.aud?.all.contains(configuration.audience) == true else {
      throw AuthenticationFailure(.invalid, "the audience is another")
    }
    guard let subject = self.sub, (1 ... 256).contains(subject.utf8.count),
      subject.unicodeScalars.allSatisfy({ !$0.properties.isWhitespace && $0.value >= 0x20 })
    else {
      throw AuthenticationFailure(.invalid, "the subject is not 1 to 256 bytes without spaces")
    }
    guard let end = self.exp.flatMap(Self.time) else {
      throw AuthenticationFailure(.invalid, "there is no time at which it expires")
    }
    let expires = end + configuration.leeway
    guard now < expires else { throw AuthenticationFailure(.expired, "it has expired") }
    if let nbf {
      guard let begin = Self.time(nbf), now >= begin - configuration.leeway else {
        throw AuthenticationFailure(.invalid, "its time has not come")
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

  /// A moment between 1970 and the year 9999; `nil` for any other number.
  private static func time(_ seconds: Double) -> Duration? {
    (0 ... 253_402_300_799).contains(seconds) ? .seconds(seconds) : nil
  }
}
