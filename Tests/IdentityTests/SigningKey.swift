import Crypto
import CryptoExtras
import Foundation

/// A generated key that signs tokens for tests.
enum SigningKey {
  case p256(P256.Signing.PrivateKey)
  case rsa(_RSA.Signing.PrivateKey)
  case ed25519(Curve25519.Signing.PrivateKey)
  /// A secret that the verifier shares.
  case shared(Data)

  /// The algorithm of the key (`alg`).
  var algorithm: String {
    switch self {
    case .p256: "ES256"
    case .rsa: "RS256"
    case .ed25519: "EdDSA"
    case .shared: "HS256"
    }
  }

  /// Returns the public key as a JSON web key, without its ID.
  func publicFields() throws -> [String: String] {
    switch self {
    case .p256(let key):
      let point = key.publicKey.rawRepresentation
      return [
        "kty": "EC", "crv": "P-256", "x": point.prefix(32).base64URL,
        "y": point.suffix(32).base64URL,
      ]
    case .rsa(let key):
      let numbers = try key.publicKey.getKeyPrimitives()
      return [
        "kty": "RSA", "alg": "RS256", "n": numbers.modulus.base64URL,
        "e": numbers.publicExponent.base64URL,
      ]
    case .ed25519(let key):
      return ["kty": "OKP", "crv": "Ed25519", "x": key.publicKey.rawRepresentation.base64URL]
    case .shared(let secret): return ["kty": "oct", "k": secret.base64URL]
    }
  }

  func sign(_ message: Data) throws -> Data {
    switch self {
    case .p256(let key): try key.signature(for: message).rawRepresentation
    case .rsa(let key):
      try key.signature(for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5)
        .rawRepresentation
    case .ed25519(let key): try key.signature(for: message)
    case .shared(let secret):
      Data(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: secret)))
    }
  }
}

extension Data {
  var base64URL: String {
    self.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }
}
