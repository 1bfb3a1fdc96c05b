import SidelightWire
import Testing

@Suite struct CompanionHelloTests {
  static let hello = CompanionHello(token: Array(0 ..< 32), sessionID: "0123456789abcdef")

  @Test("What is written is read, however it is cut")
  func roundTrip() {
    let bytes = Self.hello.bytes
    for count in 0 ..< bytes.count {
      #expect(CompanionHello.read(Array(bytes.prefix(count))) == .incomplete)
    }
    #expect(CompanionHello.read(bytes) == .complete(Self.hello))
    #expect(bytes.count <= CompanionHello.maxBytes)
  }

  @Test("Another version, bytes too many, and a name that is no text are malformed")
  func malformed() {
    #expect(CompanionHello.read([2]) == .malformed)
    #expect(CompanionHello.read(Array("GET / HTTP/1.1\r\n\r\n".utf8)) == .malformed)
    #expect(CompanionHello.read(Self.hello.bytes + [0]) == .malformed)
    var notText = Self.hello.bytes
    notText[notText.count - 1] = 0xff
    #expect(CompanionHello.read(notText) == .malformed)
    #expect(
      CompanionHello.read([1] + Array(repeating: 0, count: CompanionHello.maxBytes)) == .malformed)
  }
}
