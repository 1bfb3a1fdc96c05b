import Foundation
import JWTKit
import Logging
import SidelightTransport

/// The keys that tokens may be signed with, by key ID.
struct KeySet: Sendable {
  /// A key and its only algorithm.
  struct Key: Sendable {
    var algorithm: String
    /// A collection of only that key.
    var verifier: JWTKeyCollection
  }

  private static let maxCount = 64

  private var keys: [String: Key] = [:]

  subscript(id: String) -> Key? { self.keys[id] }

  private struct Document: Decodable {
    var keys: [KeySetEntry]
  }

  /// Reads a file with a JSON Web Key Set (RFC 7517). Keys of unknown types and keys that are not
  /// for signatures are skipped; any other error makes the file invalid.
  ///
  /// - Throws: ``KeySetError``.
  init(contentsOf path: String, logger: Logger) async throws(KeySetError) {
    let bytes: [UInt8]
    do throws(BoundedFileError) {
      bytes = try BoundedFile.contents(of: path)
    } catch {
      throw KeySetError(path, error.reason)
    }
    guard let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)) else {
      throw KeySetError(path, "is not a JSON Web Key Set: expected an object with a list of keys")
    }
    guard document.keys.count <= Self.maxCount else {
      throw KeySetError(path, "has \(document.keys.count) keys; the limit is \(Self.maxCount)")
    }
    for (index, entry) in document.keys.enumerated() {
      do throws(KeySetEntry.Rejection) {
        try await self.add(entry)
      } catch {
        let name = entry.kid.map { "key '\($0.prefix(64))'" } ?? "keys[\(index)]"
        guard error.isSkippable else { throw KeySetError(path, "\(name) \(error.reason)") }
        logger.notice(
          "key skipped", metadata: ["file": "\(path)", "key": "\(name) \(error.reason)"])
      }
    }
    guard !self.keys.isEmpty else { throw KeySetError(path, "contains no key for signatures") }
    logger.info(
      "keys read",
      metadata: ["file": "\(path)", "keys": "\(self.keys.keys.sorted().joined(separator: " "))"])
  }

  private mutating func add(_ entry: KeySetEntry) async throws(KeySetEntry.Rejection) {
    let (id, jwk, algorithm) = try entry.verificationKey()
    guard self.keys[id] == nil else {
      throw KeySetEntry.Rejection("has the ID (kid) of another key")
    }
    let verifier = JWTKeyCollection()
    do {
      try await verifier.add(jwk: jwk)
    } catch {
      throw KeySetEntry.Rejection("cannot be used: it is malformed or too small")
    }
    self.keys[id] = Key(algorithm: algorithm.rawValue, verifier: verifier)
  }
}

/// A key of a set, as in the file.
private struct KeySetEntry: Decodable {
  /// The reason why a key is not used.
  struct Rejection: Error, Hashable {
    /// A clause with the key as its subject.
    var reason: String
    /// Whether the other keys of the set may be used.
    var isSkippable: Bool

    init(_ reason: String, isSkippable: Bool = false) {
      self.reason = reason
      self.isSkippable = isSkippable
    }
  }

  /// The key ID.
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
    // The private parts of keys.
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

  /// Returns the key and its only algorithm.
  func verificationKey() throws(Rejection) -> (id: String, JWK, JWK.Algorithm) {
    guard self.use ?? "sig" == "sig", self.operations?.contains("verify") != false else {
      throw Rejection("is not for signatures", isSkippable: true)
    }
    switch self.kty {
    case "RSA", "EC", "OKP": break
    case "oct":
      throw Rejection("is a shared secret, which could also sign tokens; use an asymmetric key")
    default: throw Rejection("is of an unknown type (kty)", isSkippable: true)
    }
    guard !self.hasPrivatePart else { throw Rejection("is a private key; remove its private part") }
    guard let kid, (1 ... 256).contains(kid.utf8.count) else {
      throw Rejection("needs an ID (kid) of 1 to 256 bytes")
    }
    let algorithm = try self.algorithm()
    guard var jwk else { throw Rejection("has missing or invalid parameters") }
    jwk.algorithm = algorithm
    return (kid, jwk, algorithm)
  }

  /// Returns the algorithm: the stated one if it fits the type of the key, otherwise the only one
  /// that fits.
  private func algorithm() throws(Rejection) -> JWK.Algorithm {
    let candidates: [JWK.Algorithm] =
      switch (self.kty, self.curve) {
      case ("RSA", _): [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
      case ("EC", "P-256"): [.es256]
      case ("EC", "P-384"): [.es384]
      case ("EC", "P-521"): [.es512]
      case ("OKP", "Ed25519"): [.eddsa]
      default: []
      }
    guard !candidates.isEmpty else {
      throw Rejection(
        "is on an unknown curve, or one that is not for signatures", isSkippable: true)
    }
    guard let alg else {
      guard candidates.count == 1 else { throw Rejection("does not state its algorithm (alg)") }
      return candidates[0]
    }
    guard let algorithm = candidates.first(where: { $0.rawValue == alg }) else {
      throw Rejection("states the algorithm '\(alg.prefix(16))', which does not fit its type")
    }
    return algorithm
  }
}

/// The reason why a file of keys is invalid.
public struct KeySetError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file.
  public let file: String
  /// The error, as a clause with the file as its subject. It includes only the IDs of keys.
  public let reason: String

  /// The file and the reason.
  public var description: String { "\(self.file): \(self.reason)" }

  init(_ file: String, _ reason: String) {
    self.file = file
    self.reason = reason
  }
}
