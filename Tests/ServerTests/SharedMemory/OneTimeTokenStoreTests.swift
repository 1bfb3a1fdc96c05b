import SidelightServer
import SidelightTransport
import SidelightWire
import Testing

@Suite struct OneTimeTokenStoreTests {
  static let token: [UInt8] = Array(0 ..< 32)
  static let hello = DescriptorHello(token: Self.token, sessionID: "a")

  static var desk: OneTimeTokenStore<String> {
    var desk = OneTimeTokenStore<String>()
    desk.issue(Self.token, for: "ring", of: "a", now: .zero, until: .seconds(10))
    return desk
  }

  @Test("A token is good once")
  func once() {
    var desk = Self.desk
    #expect(desk.redeem(Self.hello, now: .seconds(9)) == "ring")
    #expect(desk.redeem(Self.hello, now: .seconds(9)) == nil)
    #expect(desk.count == 0)
  }

  @Test("A token expires, and what it was good for is let go")
  func expiry() {
    var desk = Self.desk
    #expect(desk.redeem(Self.hello, now: .seconds(10)) == nil)
    #expect(desk.count == 0)
  }

  @Test("A token that another session shows is good for neither")
  func otherSession() {
    var desk = Self.desk
    let other = DescriptorHello(token: Self.token, sessionID: "b")
    #expect(desk.redeem(other, now: .zero) == nil)
    #expect(desk.redeem(Self.hello, now: .zero) == nil)
  }

  @Test("A token that was never issued is invalid, and costs the others nothing")
  func unknown() {
    var desk = Self.desk
    for index in 0 ..< 32 {
      var token = Self.token
      token[index] ^= 1
      #expect(desk.redeem(DescriptorHello(token: token, sessionID: "a"), now: .zero) == nil)
    }
    #expect(desk.redeem(Self.hello, now: .zero) == "ring")
  }

  @Test("The token of a session that is over is good no more")
  func revocation() {
    var desk = Self.desk
    desk.issue([1], for: "other", of: "b", now: .zero, until: .seconds(10))
    desk.revoke("a")
    #expect(desk.redeem(Self.hello, now: .zero) == nil)
    #expect(desk.count == 1)
  }
}
