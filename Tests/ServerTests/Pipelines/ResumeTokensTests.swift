import Foundation
import GRPCCore
import SidelightServer
import SidelightWire
import SwiftProtobuf
import Testing

@Suite struct ResumeTokensTests {
  static func key(_ id: String, _ byte: UInt8) -> ResumeKey {
    ResumeKey(id: id, secret: Data(repeating: byte, count: 32))
  }

  static let state = Sidelight_V1_ResumeState.with {
    $0.expiresNs = 100
    $0.revision = 7
  }

  static func tokens(_ keys: ResumeKey...) -> ResumeTokens {
    ResumeTokens(keys: keys, lifetime: .seconds(60))
  }

  @Test func `a signed token is accepted by every server with the key`() throws {
    let token = Self.tokens(Self.key("a", 1)).sign(Self.state)
    let elsewhere = Self.tokens(Self.key("b", 2), Self.key("a", 1))
    #expect(try elsewhere.verify(token, at: 99) == Self.state)
  }

  @Test
  func `after a rotation the new key signs, and the old one is accepted until it is removed`()
    throws
  {
    let old = Self.tokens(Self.key("a", 1)).sign(Self.state)
    let rotated = Self.tokens(Self.key("b", 2), Self.key("a", 1))
    let new = rotated.sign(Self.state)
    let done = Self.tokens(Self.key("b", 2))
    #expect(throws: Never.self) { try rotated.verify(old, at: 0) }
    #expect(throws: Never.self) { try done.verify(new, at: 0) }
    #expect(throws: FieldViolation.self) { try done.verify(old, at: 0) }
  }

  @Test func `a token is valid until it expires`() {
    let tokens = Self.tokens(Self.key("a", 1))
    let token = tokens.sign(Self.state)
    #expect(throws: Never.self) { try tokens.verify(token, at: 99) }
    let error = #expect(throws: FieldViolation.self) { try tokens.verify(token, at: 100) }
    #expect(error?.code == .failedPrecondition)
    #expect(error?.reason.contains("expired") == true)
  }

  @Test func `a token with any changed byte is refused`() {
    let tokens = Self.tokens(Self.key("a", 1))
    let token = tokens.sign(Self.state)
    for index in token.indices {
      for bit in [UInt8(1), 0x80] {
        var touched = token
        touched[index] ^= bit
        // A change that the encoding ignores isn't a change.
        guard
          (try? Sidelight_V1_ResumeToken(serializedBytes: touched))
            != (try? Sidelight_V1_ResumeToken(serializedBytes: token))
        else { continue }
        #expect(throws: FieldViolation.self) { try tokens.verify(touched, at: 0) }
      }
    }
    for length in 0 ..< token.count {
      #expect(throws: FieldViolation.self) { try tokens.verify(token.prefix(length), at: 0) }
    }
  }

  @Test func `a token with another key of the same name, or without a signature, is refused`() {
    let token = Self.tokens(Self.key("a", 1)).sign(Self.state)
    #expect(throws: FieldViolation.self) { try Self.tokens(Self.key("a", 2)).verify(token, at: 0) }
    #expect(throws: FieldViolation.self) { try Self.tokens().verify(token, at: 0) }
    let bare =
      try? Sidelight_V1_ResumeToken.with {
        $0.keyID = "a"
        $0.state = try Self.state.serializedBytes()
      }.serializedBytes() as Data
    #expect(throws: FieldViolation.self) {
      try Self.tokens(Self.key("a", 1)).verify(bare ?? Data(), at: 0)
    }
    #expect(Self.tokens().sign(Self.state).isEmpty)
  }
}
