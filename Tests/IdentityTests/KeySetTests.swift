import Crypto
import CryptoExtras
import Foundation
import SidelightIdentity
import Testing

/// Files of keys: what is left out, and what stops the start.
@Suite struct KeySetTests {
  let file = KeyFile()
  let p256 = SigningKey.p256(.init())

  /// Reads the file; what is wrong with it, if anything is.
  private func fault() async -> String? {
    defer { self.file.remove() }
    do {
      _ = try await TokenAuthenticator(
        TokenConfiguration(
          issuer: Token.issuer, audience: Token.audience, keys: self.file.path),
        logger: .silent)
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test(
    "A file that is no set of keys stops the start",
    arguments: ["", "[]", "{}", "{\"keys\": 1}", "{\"keys\": []}", "no JSON", "\u{0}"])
  func noSets(text: String) async throws {
    try self.file.write(text)
    #expect(await self.fault()?.contains(self.file.path) == true)
  }

  @Test("A file that is not there stops the start")
  func noFile() async {
    #expect(await self.fault()?.contains("does not exist") == true)
  }

  @Test("A file that is too large is not read")
  func largeFile() async throws {
    try self.file.write(String(repeating: " ", count: 2 << 20))
    #expect(await self.fault()?.contains("1048576 bytes") == true)
  }

  @Test("Keys that are not trustworthy stop the start")
  func badKeys() async throws {
    let small = SigningKey.rsa(try .init(unsafeKeySize: .init(bitCount: 1024)))
    let rsa = SigningKey.rsa(try .init(keySize: .bits2048))
    let cases: [(SigningKey, [String: Any], String)] = [
      (.shared(Data(repeating: 1, count: 32)), [:], "shared secret"),
      (self.p256, ["d": "AQ"], "private key"),
      (rsa, ["p": "AQ"], "private key"),
      (self.p256, ["kid": NSNull()], "needs an ID"),
      (self.p256, ["kid": ""], "needs an ID"),
      (self.p256, ["alg": "RS256"], "'RS256'"),
      (self.p256, ["alg": "ES384"], "'ES384'"),
      (rsa, ["alg": "HS256"], "'HS256'"),
      (rsa, ["alg": "none"], "'none'"),
      (rsa, ["alg": NSNull()], "does not state its algorithm"),
      (self.p256, ["x": NSNull()], "cannot be used"),
      (self.p256, ["x": "AQ"], "cannot be used"),
      (small, [:], "cannot be used"),
    ]
    for (key, changes, words) in cases {
      // A good key next to it does not make up for it.
      try self.file.write([("good", self.p256, [:]), ("bad", key, changes)])
      let fault = await self.fault()
      #expect(fault?.contains(words) == true, "\(words): \(fault ?? "none")")
    }
    try self.file.write([("same", self.p256, [:]), ("same", rsa, [:])])
    #expect(await self.fault()?.contains("ID (kid) of another key") == true)
  }

  @Test("Keys for other purposes, and of kinds to come, are left out")
  func otherKeys() async throws {
    for changes in [
      ["use": "enc"], ["key_ops": ["encrypt"]], ["kty": "AKP"], ["crv": "X25519", "kty": "OKP"],
      ["crv": "secp256k1"],
    ] as [[String: Any]] {
      try self.file.write([("good", self.p256, [:]), ("other", self.p256, changes)])
      #expect(await self.fault() == nil, "\(changes)")
      try self.file.write([("other", self.p256, changes)])
      #expect(await self.fault()?.contains("no key for signatures") == true, "\(changes)")
    }
  }

  @Test("There are no more keys than the limit")
  func manyKeys() async throws {
    try self.file.write((0 ..< 65).map { ("\($0)", self.p256, [:]) })
    #expect(await self.fault()?.contains("65 keys; the limit is 64") == true)
  }
}
