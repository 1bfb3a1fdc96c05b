import Crypto
import CryptoExtras
import Foundation
import GRPCCore
import SidelightIdentity
import SidelightTestSupport
import Testing

/// Tests of valid and invalid tokens over a real connection.
@Suite(.timeLimit(.minutes(5))) struct TokenTests {
  let file = KeyFile()
  let p256 = SigningKey.p256(.init())
  let rsa: SigningKey
  let ed25519 = SigningKey.ed25519(.init())
  let configuration: TokenConfiguration

  init() throws {
    self.rsa = .rsa(try .init(keySize: .bits2048))
    try self.file.write([("ec", self.p256, [:]), ("rsa", self.rsa, [:]), ("ed", self.ed25519, [:])])
    self.configuration = TokenConfiguration(
      issuer: Token.issuer, audience: Token.audience, keys: self.file.path)
  }

  private func authenticator() async throws -> TokenAuthenticator {
    try await TokenAuthenticator(self.configuration, logger: .silent)
  }

  private func token(_ change: (inout Token) -> Void = { _ in }) throws -> String {
    var token = Token()
    change(&token)
    return try token.text(self.p256, id: "ec")
  }

  @Test func `tokens of each kind of key are accepted`() async throws {
    defer { self.file.remove() }
    try await withServer(try await self.authenticator()) { stub in
      for (key, id) in [(self.p256, "ec"), (self.rsa, "rsa"), (self.ed25519, "ed")] {
        let refusal = try await stub.refusal(try Token().text(key, id: id))
        #expect(refusal == nil, "\(id)")
      }
    }
  }

  @Test func `an invalid token is refused, without the reason`() async throws {
    defer { self.file.remove() }
    let good = try self.token()
    let parts = good.split(separator: ".").map(String.init)
    let publicKey: Data =
      if case .rsa(let key) = self.rsa { Data(key.publicKey.pemRepresentation.utf8) } else {
        Data()
      }
    let none = try Token.json(["alg": "none", "kid": "ec"])
    let cases: [(String, String)] = [
      ("no token at all", "x"),
      ("two parts", parts[0] + "." + parts[1]),
      ("four parts", good + ".x"),
      ("no signature", parts[0] + "." + parts[1] + "."),
      ("alg none without a signature", none + "." + parts[1] + "."),
      ("alg none with one", none + "." + parts[1] + "." + parts[2]),
      ("alg nOnE", try self.token { $0.header["alg"] = "nOnE" }),
      ("alg of another kind", try self.token { $0.header["alg"] = "RS256" }),
      ("alg missing", try self.token { $0.header["alg"] = NSNull() }),
      ("alg no text", try self.token { $0.header["alg"] = 1 }),
      (
        "a public key as a shared secret",
        try Token().text(.shared(publicKey), id: "rsa")
      ),
      ("a shared secret with another key ID", try Token().text(.shared(publicKey), id: "hs")),
      ("RSA with another hash", try Token(header: ["alg": "RS512"]).text(self.rsa, id: "rsa")),
      ("RSA with another padding", try Token(header: ["alg": "PS256"]).text(self.rsa, id: "rsa")),
      ("an unknown key", try Token().text(self.p256, id: "other")),
      ("another's key", try Token().text(.p256(.init()), id: "ec")),
      ("no key named", try self.token { $0.header["kid"] = NSNull() }),
      ("an empty name", try self.token { $0.header["kid"] = "" }),
      (
        "a key in the token",
        try self.token {
          $0.header["jwk"] = ["kty": "EC"]; $0.header["kid"] = "in"
        }
      ),
      ("critical extensions", try self.token { $0.header["crit"] = ["b64"] }),
      (
        "claims of another token",
        parts[0] + "." + (try Token.json(["sub": "bob"])) + "." + parts[2]
      ),
      ("a signature cut short", String(good.dropLast(4))),
      ("padding", good + "="),
      ("characters of other base64", parts[0] + "." + parts[1] + ".+" + parts[2].dropFirst()),
      ("a header that is no JSON", Data("alg".utf8).base64URL + "." + parts[1] + "." + parts[2]),
      ("another issuer", try self.token { $0.claims["iss"] = Token.issuer + "/" }),
      ("no issuer", try self.token { $0.claims["iss"] = NSNull() }),
      ("another audience", try self.token { $0.claims["aud"] = "other" }),
      ("other audiences", try self.token { $0.claims["aud"] = ["other", "sidelight2"] }),
      ("no audience", try self.token { $0.claims["aud"] = NSNull() }),
      ("no subject", try self.token { $0.claims["sub"] = NSNull() }),
      ("an empty subject", try self.token { $0.claims["sub"] = "" }),
      ("a subject of two lines", try self.token { $0.claims["sub"] = "a\nb" }),
      ("a long subject", try self.token { $0.claims["sub"] = String(repeating: "a", count: 257) }),
      ("no end", try self.token { $0.claims["exp"] = NSNull() }),
      ("an end that is text", try self.token { $0.claims["exp"] = "\(Token.now + 600)" }),
      ("an end beyond time", try self.token { $0.claims["exp"] = 1e300 }),
      ("an end before time", try self.token { $0.claims["exp"] = -1 }),
      ("not yet", try self.token { $0.claims["nbf"] = Token.now + 61 }),
      ("a beginning beyond time", try self.token { $0.claims["nbf"] = 1e300 }),
      ("too long", try self.token { $0.claims["x"] = String(repeating: "a", count: 9000) }),
      ("filters that are a number", try self.token { $0.claims["filters"] = 1 }),
      ("filters that are not texts", try self.token { $0.claims["filters"] = ["a", 1] }),
      ("an empty filter", try self.token { $0.claims["filters"] = ["sepiaTone", ""] }),
      ("a * within a filter", try self.token { $0.claims["filters"] = ["sepia*Tone"] }),
      (
        "a long filter",
        try self.token { $0.claims["filters"] = [String(repeating: "a", count: 65)] }
      ),
    ]
    try await withServer(try await self.authenticator()) { stub in
      #expect(try await stub.refusal(good) == nil)
      for (name, token) in cases {
        let refusal = try await stub.refusal(token)
        #expect(refusal?.code == .unauthenticated, "\(name)")
        #expect(refusal?.reason == "TOKEN_INVALID", "\(name)")
      }
    }
  }

  @Test func `the leeway applies to nbf and exp, to the second`() async throws {
    defer { self.file.remove() }
    try await withServer(try await self.authenticator()) { stub in
      for (claim, offset, reason) in [
        ("exp", -59, nil), ("exp", -60, "CREDENTIALS_EXPIRED"),
        ("exp", -100_000, "CREDENTIALS_EXPIRED"),
        ("nbf", 60, nil), ("nbf", 61, "TOKEN_INVALID"), ("nbf", -5, nil),
      ] as [(String, Int, String?)] {
        let token = try self.token { $0.claims[claim] = Token.now + offset }
        let refusal = try await stub.refusal(token)
        #expect(refusal?.reason == reason, "\(claim) \(offset)")
      }
    }
  }

  @Test func `scopes are a text or a list, with the configured prefix`() async throws {
    defer { self.file.remove() }
    var prefixed = self.configuration
    prefixed.scopePrefix = "sidelight:"
    let cases: [(TokenConfiguration, [String: Any], Set<Scope>)] = [
      (self.configuration, ["scope": "stream operate other"], [.stream, .operate]),
      (self.configuration, ["scope": NSNull(), "scp": ["assets", "stream"]], [.assets, .stream]),
      (self.configuration, ["scope": NSNull(), "scp": "assets stream"], [.assets, .stream]),
      (self.configuration, ["scope": NSNull()], []),
      (self.configuration, ["scope": "STREAM"], []),
      (prefixed, ["scope": "sidelight:stream operate"], [.stream]),
    ]
    for (configuration, claims, scopes) in cases {
      let authenticator = try await TokenAuthenticator(configuration, logger: .silent)
      let token = try self.token { $0.claims.merge(claims) { $1 } }
      let principal = try await authenticator.authenticate(
        token: token, at: .seconds(Token.now))
      #expect(principal.scopes == scopes)
    }
  }

  @Test func `the claim filters limits what the caller may use`() async throws {
    defer { self.file.remove() }
    let claims: [(claim: Any, isPermitted: Bool)] = [
      (NSNull(), true), (["vignette", "sepiaTone"], true), ("vignette CISepia*", true), ("*", true),
      (["vignette"], false), ([String](), false), ("", false), ("vignette", false),
    ]
    let cases = try claims.map { claim, isPermitted in
      (
        claim: "\(claim)", token: try self.token { $0.claims["filters"] = claim },
        isPermitted: isPermitted
      )
    }
    try await withServer(try await self.authenticator()) { stub in
      for (claim, token, isPermitted) in cases {
        let refusal = try await stub.refusal(token)
        #expect(refusal?.code == (isPermitted ? nil : .permissionDenied), "\(claim)")
        let listed = try await stub.listFilters(
          .init(), metadata: ["authorization": "Bearer \(token)"])
        #expect(listed.filters.contains { $0.name == "sepiaTone" } == isPermitted, "\(claim)")
      }
    }
  }

  @Test func `a missing scope and an invalid token have different errors`() async throws {
    defer { self.file.remove() }
    try await withServer(try await self.authenticator()) { stub in
      let refusal = try await stub.refusal(try self.token { $0.claims["scope"] = "operate" })
      #expect(refusal?.code == .permissionDenied)
      #expect(refusal?.reason == "SCOPE_MISSING")
    }
  }

  @Test func `a caller's name is subject and issuer, until expiry plus leeway`() async throws {
    defer { self.file.remove() }
    let principal = try await self.authenticator().authenticate(
      token: try self.token { $0.claims["aud"] = ["other", Token.audience] },
      at: .seconds(Token.now))
    #expect(principal.name == "sub:alice@https://id.example")
    #expect(principal.expires == .seconds(Token.now + 660))
  }

  @Test func `new keys apply to the next call; an invalid key set changes nothing`() async throws {
    defer { self.file.remove() }
    let authenticator = try await self.authenticator()
    let (old, next) = (try self.token(), SigningKey.p256(.init()))
    let new = try Token().text(next, id: "next")
    try await withServer(authenticator) { stub in
      try self.file.write("{\"keys\": [")
      await #expect(throws: KeySetError.self) { try await authenticator.reload() }
      #expect(try await stub.refusal(old) == nil)
      try self.file.write([("next", next, [:])])
      try await authenticator.reload()
      #expect(try await stub.refusal(old)?.reason == "TOKEN_INVALID")
      #expect(try await stub.refusal(new) == nil)
    }
  }

  @Test func `keys that are read apply after setRules`() async throws {
    defer { self.file.remove() }
    let authenticator = try await self.authenticator()
    let (old, next) = (try self.token(), SigningKey.p256(.init()))
    let new = try Token().text(next, id: "next")
    try await withServer(authenticator) { stub in
      try self.file.write([("next", next, [:])])
      let rules = try await authenticator.read(self.configuration)
      #expect(try await stub.refusal(old) == nil)
      authenticator.setRules(rules)
      #expect(try await stub.refusal(old)?.reason == "TOKEN_INVALID")
      #expect(try await stub.refusal(new) == nil)
    }
  }

  @Test func `invalid settings prevent the start`() async throws {
    defer { self.file.remove() }
    for (setting, change) in [
      ("token.issuer", { $0.issuer = "" }), ("token.issuer", { $0.issuer = "a@b" }),
      ("token.audience", { $0.audience = "" }), ("token.leeway", { $0.leeway = .seconds(301) }),
      ("token.leeway", { $0.leeway = .seconds(-1) }),
    ] as [(String, (inout TokenConfiguration) -> Void)] {
      var configuration = self.configuration
      change(&configuration)
      let error = await #expect(throws: ConfigurationError.self) {
        _ = try await TokenAuthenticator(configuration, logger: .silent)
      }
      #expect(error?.setting == setting)
    }
  }
}
