import Foundation
import JWTKit
import Logging
import SidelightServer
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
  /// for signatures are skipped; any other fault makes the file invalid.
  ///
  /// - Throws: ``KeySetFault``.
  init(contentsOf path: String, logger: Logger) async throws(KeySetFault) {
    let bytes: [UInt8]
    do throws(BoundedFileError) {
      bytes = try BoundedFile.contents(of: path)
    } catch {
      throw KeySetFault(path, error.reason)
    }
    guard let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)) else {
      throw KeySetFault(path, "is not a JSON Web Key Set: expected an object with a list of keys")
    }
    guard document.keys.count <= Self.maxCount else {
      throw KeySetFault(path, "has \(document.keys.count) keys; the limit is \(Self.maxCount)")
    }
    for (place, entry) in document.keys.enumerated() {
      do throws(KeySetEntry.Fault) {
        try await self.add(entry)
      } catch {
        let name = entry.kid.map { "key '\($0.prefix(64))'" } ?? "keys[\(place)]"
        guard error.isHarmless else { throw KeySetFault(path, "\(name) \(error.reason)") }
        logger.notice(
          "key skipped", metadata: ["file": "\(path)", "key": "\(name) \(error.reason)"])
      }
    }
    guard !self.keys.isEmpty else { throw KeySetFault(path, "contains no key for signatures") }
    logger.info(
      "keys read",
      metadata: ["file": "\(path)", "keys": "\(self.keys.keys.sorted().joined(separator: " "))"])
  }

  private mutating func add(_ entry: KeySetEntry) async throws(KeySetEntry.Fault) {
    let (id, jwk, algorithm) = try entry.verificationKey()
    guard self.keys[id] == nil else { throw KeySetEntry.Fault("has the ID (kid) of another key") }
    let verifier = JWTKeyCollection()
    do {
      try await verifier.add(jwk: jwk)
    } catch {
      throw KeySetEntry.Fault("cannot be used: it is malformed or too small")
    }
    self.keys[id] = Key(algorithm: algorithm.rawValue, verifier: verifier)
  }
}
