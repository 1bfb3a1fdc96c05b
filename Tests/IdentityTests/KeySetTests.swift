import Crypto
import CryptoExtras
import Foundation
import SidelightIdentity
import SidelightTestSupport
import Testing

/// Tests of key files: ignored keys, and errors that prevent the start.
@Suite struct KeySetTests {
  let file = KeyFile()
  let p256 = SigningKey.p256(.init())

  /// Reads the file. Returns the error message, `nil` if the file is valid.
  private func errorMessage() async -> String? {
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
    arguments: ["", "[]", "{}", "{\"keys\": 1}", "{\"keys\": []}", "no JSON", "\u{0}"])
  func `a file that is not a key set prevents the start`(text: String) async throws {
    try self.file.write(text)
    #expect(await self.errorMessage()?.contains(self.file.path) == true)
  }

  @Test func `a missing file prevents the start`() async {
    #expect(await self.errorMessage()?.contains("does not exist") == true)
  }

  @Test func `a file that is too large is not read`() async throws {
    try self.file.write(String(repeating: " ", count: 2 << 20))
    #expect(await self.errorMessage()?.contains("1048576 bytes") == true)
  }

  @Test func `an insecure or invalid key prevents the start`() async throws {
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
    for (key, changes, expected) in cases {
      // Also with a valid key in the same set.
      try self.file.write([("good", self.p256, [:]), ("bad", key, changes)])
      let message = await self.errorMessage()
      #expect(message?.contains(expected) == true, "\(expected): \(message ?? "none")")
    }
    try self.file.write([("same", self.p256, [:]), ("same", rsa, [:])])
    #expect(await self.errorMessage()?.contains("ID (kid) of another key") == true)
  }

  @Test func `keys for other uses and of unknown types are ignored`() async throws {
    for changes in [
      ["use": "enc"], ["key_ops": ["encrypt"]], ["kty": "AKP"], ["crv": "X25519", "kty": "OKP"],
      ["crv": "secp256k1"],
    ] as [[String: Any]] {
      try self.file.write([("good", self.p256, [:]), ("other", self.p256, changes)])
      #expect(await self.errorMessage() == nil, "\(changes)")
      try self.file.write([("other", self.p256, changes)])
      #expect(await self.errorMessage()?.contains("no key for signatures") == true, "\(changes)")
    }
  }

  @Test func `a key set above the limit is refused`() async throws {
    try self.file.write((0 ..< 65).map { ("\($0)", self.p256, [:]) })
    #expect(await self.errorMessage()?.contains("65 keys; the limit is 64") == true)
  }
}
