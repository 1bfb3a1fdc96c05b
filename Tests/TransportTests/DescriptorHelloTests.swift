import SidelightTransport
import SidelightWire
import Testing

@Suite struct DescriptorHelloTests {
  static let hello = DescriptorHello(token: Array(0 ..< 32), sessionID: "0123456789abcdef")

  @Test func `a written hello is read, however it is cut`() {
    let bytes = Self.hello.bytes
    for count in 0 ..< bytes.count {
      #expect(DescriptorHello.read(Array(bytes.prefix(count))) == .incomplete)
    }
    #expect(DescriptorHello.read(bytes) == .complete(Self.hello))
    #expect(bytes.count <= DescriptorHello.maxBytes)
  }

  @Test func `another version, bytes too many, and a name that is no text are malformed`() {
    #expect(DescriptorHello.read([2]) == .malformed)
    #expect(DescriptorHello.read(Array("GET / HTTP/1.1\r\n\r\n".utf8)) == .malformed)
    #expect(DescriptorHello.read(Self.hello.bytes + [0]) == .malformed)
    var notText = Self.hello.bytes
    notText[notText.count - 1] = 0xff
    #expect(DescriptorHello.read(notText) == .malformed)
    #expect(
      DescriptorHello.read([1] + Array(repeating: 0, count: DescriptorHello.maxBytes)) == .malformed
    )
  }
}
