import SidelightServer
import SidelightTransport
import SidelightWire
import Testing

@Suite struct OneTimeTokenStoreTests {
  static let token: [UInt8] = Array(0 ..< 32)
  static let hello = DescriptorHello(token: Self.token, sessionID: "a")

  static var store: OneTimeTokenStore<String> {
    var store = OneTimeTokenStore<String>()
    store.issue(Self.token, for: "ring", of: "a", now: .zero, until: .seconds(10))
    return store
  }

  @Test func `a token is valid once`() {
    var store = Self.store
    #expect(store.take(Self.hello, now: .seconds(9)) == "ring")
    #expect(store.take(Self.hello, now: .seconds(9)) == nil)
    #expect(store.count == 0)
  }

  @Test func `an expired token is invalid, and its ring is released`() {
    var store = Self.store
    #expect(store.take(Self.hello, now: .seconds(10)) == nil)
    #expect(store.count == 0)
  }

  @Test func `a token that another session presents is invalid for both`() {
    var store = Self.store
    let other = DescriptorHello(token: Self.token, sessionID: "b")
    #expect(store.take(other, now: .zero) == nil)
    #expect(store.take(Self.hello, now: .zero) == nil)
  }

  @Test func `a token that was never issued is invalid, and does not affect the others`() {
    var store = Self.store
    for index in 0 ..< 32 {
      var token = Self.token
      token[index] ^= 1
      #expect(store.take(DescriptorHello(token: token, sessionID: "a"), now: .zero) == nil)
    }
    #expect(store.take(Self.hello, now: .zero) == "ring")
  }

  @Test func `the token of a session that has ended is invalid`() {
    var store = Self.store
    store.issue([1], for: "other", of: "b", now: .zero, until: .seconds(10))
    store.revoke("a")
    #expect(store.take(Self.hello, now: .zero) == nil)
    #expect(store.count == 1)
  }
}
