import JWTKit

/// One key of a set, as the file has it.
struct KeySetEntry: Decodable {
  /// Why a key is not used.
  struct Fault: Error, Hashable {
    /// In words, to follow the key's name.
    var reason: String
    /// Whether the other keys may be used all the same.
    var isHarmless: Bool

    init(_ reason: String, isHarmless: Bool = false) {
      self.reason = reason
      self.isHarmless = isHarmless
    }
  }

  /// Its name.
  var kid: String?
  private var kty: String?
  private var alg: String?
  private var use: String?
  private var operations: [String]?
  private var curve: String?
  private var hasPrivatePart: Bool
  private var jwk: JWK?

  private enum CodingKeys: String, CodingKey {
    case kid, kty, alg, use, key_ops, crv
    // What nobody but the key's owner may know.
    case d, p, q, dp, dq, qi, oth
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.kid = try? fields.decode(String.self, forKey: .kid)
    self.kty = try? fields.decode(String.self, forKey: .kty)
    self.alg = try? fields.decode(String.self, forKey: .alg)
    self.use = try? fields.decode(String.self, forKey: .use)
    self.operations = try? fields.decode([String].self, forKey: .key_ops)
    self.curve = try? fields.decode(String.self, forKey: .crv)
    self.hasPrivatePart = [.d, .p, .q, .dp, .dq, .qi, .oth].contains(where: fields.contains)
    self.jwk = try? JWK(from: decoder)
  }

  /// The key, and the one algorithm that it is for.
  func verificationKey() throws(Fault) -> (id: String, JWK, JWK.Algorithm) {
    guard self.use ?? "sig" == "sig", self.operations?.contains("verify") != false else {
      throw Fault("is not for signatures", isHarmless: true)
    }
    switch self.kty {
    case "RSA", "EC", "OKP": break
    case "oct": throw Fault("is a shared secret: whoever checks tokens with it could make them")
    default: throw Fault("is of a kind that is not known", isHarmless: true)
    }
    guard !self.hasPrivatePart else { throw Fault("is a private key, which does not belong here") }
    guard let kid, (1 ... 256).contains(kid.utf8.count) else {
      throw Fault("has no name (kid) of 1 to 256 bytes")
    }
    let algorithm = try self.algorithm()
    guard var jwk else { throw Fault("lacks numbers, or has wrong ones") }
    jwk.algorithm = algorithm
    return (kid, jwk, algorithm)
  }

  /// What it is for: what it says, if that fits its kind; else the only one that does.
  private func algorithm() throws(Fault) -> JWK.Algorithm {
    let fitting: [JWK.Algorithm] =
      switch (self.kty, self.curve) {
      case ("RSA", _): [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
      case ("EC", "P-256"): [.es256]
      case ("EC", "P-384"): [.es384]
      case ("EC", "P-521"): [.es512]
      case ("OKP", "Ed25519"): [.eddsa]
      default: []
      }
    guard !fitting.isEmpty else {
      throw Fault("is on a curve that is not for signatures, or not known", isHarmless: true)
    }
    guard let alg else {
      guard fitting.count == 1 else { throw Fault("does not say its algorithm (alg)") }
      return fitting[0]
    }
    guard let algorithm = fitting.first(where: { $0.rawValue == alg }) else {
      throw Fault("says that its algorithm is '\(alg.prefix(16))', which its kind is not for")
    }
    return algorithm
  }
}
