import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import SidelightKernels
import SwiftProtobuf
import Testing

import SidelightTransport
import SidelightWire

/// The reader that leaves pixels where they are, against the generated code.
@Suite struct ReceivedMessageTests {
  typealias Client = Sidelight_V1_ClientMessage
  private static let deserializer = ReceivedMessageDeserializer<Client>()

  /// The whole message, as the generated code would have it.
  private static func whole(_ received: ReceivedMessage<Client>) -> Client {
    var message = received.message
    if let pixels = received.pixels { message.carriedImage?.inline = Data(pixels.bytes) }
    return message
  }

  @Test(arguments: 0 ..< 40)
  func `whatever the encoding, the generated code reads the same`(seed: UInt64) throws {
    var encodings = AdversarialEncoding(random: SeededRandom(seed: seed))
    var withPixels = 0
    for _ in 0 ..< 2500 {
      let bytes = encodings.clientMessage()
      let expected = try? Client(serializedBytes: bytes)
      let received = try? Self.deserializer.deserialize(GRPCNIOTransportBytes(bytes))
      guard received.map(Self.whole) == expected else {
        Issue.record("\(bytes) is read as \(received as Any) and not as \(expected as Any)")
        return
      }
      if received?.pixels != nil { withPixels += 1 }
    }
    // The test is about messages with pixels, not about broken ones.
    #expect(withPixels > 250)
  }

  @Test func `bytes that are no message are refused as the generated code refuses them`() {
    for bytes: [UInt8] in [[0x0A], [0x0A, 0x05, 0x12], [0x0B], [0x07], [0xFF]] {
      #expect {
        _ = try Self.deserializer.deserialize(GRPCNIOTransportBytes(bytes))
      } throws: { error in
        (error as? RPCError)?.code == .invalidArgument
      }
    }
  }

  @Test func `pixels stay where the transport put them`() throws {
    let sent = Client.with {
      $0.frame.sequence = 7
      $0.frame.image.width = 3
      $0.frame.image.inline = Data(0 ..< 200)
      $0.frame.tags = ["after": "the pixels"]
    }
    let bytes: GRPCNIOTransportBytes = GRPCNIOTransportBytes(
      try sent.serializedBytes() as [UInt8])
    let received = try Self.deserializer.deserialize(bytes)
    let pixels = try #require(received.pixels)
    let came = bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    let lie = UInt(bitPattern: pixels.bytes.baseAddress)
    #expect((came ..< came + UInt(bytes.count)).contains(lie))
    #expect([UInt8](pixels.bytes) == [UInt8](0 ..< 200))
    #expect(received.message.frame.tags == ["after": "the pixels"])
    #expect(received.message.frame.image.inline.isEmpty)
  }

  @Test func `pixels outlive the message that brought them`() throws {
    var pixels: PixelBuffer?
    do {
      let sent = Client.with { $0.frame.image.inline = Data(repeating: 9, count: 1 << 20) }
      let bytes: [UInt8] = try sent.serializedBytes()
      pixels = try Self.deserializer.deserialize(GRPCNIOTransportBytes(bytes)).pixels
    }
    #expect(pixels?.bytes.allSatisfy { $0 == 9 } == true)
  }

  @Test func `pixels that lie far behind other things outlive the message too`() throws {
    // Beyond 16 MiB swift-nio's slices are copies.
    let padding = UnknownField.bytes(field: 1000, count: 17 << 20)
    let sent = Client.with {
      $0.frame.sequence = 4
      $0.frame.image.inline = Data(repeating: 9, count: 100_000)
    }
    let bytes = padding + (try sent.serializedBytes() as [UInt8])
    let pixels = try #require(Self.deserializer.deserialize(GRPCNIOTransportBytes(bytes)).pixels)
    // Memory that was freed would be reused by these.
    let others = (0 ..< 4).map { _ in [UInt8](repeating: 1, count: 17 << 20) }
    #expect(pixels.bytes.allSatisfy { $0 == 9 })
    #expect(pixels.transportBytes == nil, "17 MiB would be kept for 100 KB")
    withExtendedLifetime(others) {}
  }

  /// An unknown field.
  private enum UnknownField {
    static func bytes(field: Int, count: Int) -> [UInt8] {
      var bytes: [UInt8] = []
      for value in [field << 3 | 2, count] {
        var rest = value
        while rest >= 0x80 {
          bytes.append(UInt8(rest & 0x7F) | 0x80)
          rest >>= 7
        }
        bytes.append(UInt8(rest))
      }
      return bytes + [UInt8](repeating: 0, count: count)
    }
  }

  @Test func `pixels in bytes of a kind that may move are copied`() throws {
    let sent = Client.with { $0.frame.image.inline = Data([1, 2, 3]) }
    let received = try Self.deserializer.deserialize(
      MovingBytes(try sent.serializedBytes() as [UInt8]))
    #expect(try [UInt8](#require(received.pixels).bytes) == [1, 2, 3])
  }

  /// Bytes that move between accesses.
  private struct MovingBytes: GRPCContiguousBytes {
    private var bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) { self.bytes = [UInt8](bytes) }
    init(repeating byte: UInt8, count: Int) { self.bytes = .init(repeating: byte, count: count) }

    var count: Int { self.bytes.count }

    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: self.count, alignment: 1)
      copy.copyBytes(from: self.bytes)
      defer {
        copy.initializeMemory(as: UInt8.self, repeating: 0xEE)
        copy.deallocate()
      }
      return try body(UnsafeRawBufferPointer(copy))
    }

    mutating func withUnsafeMutableBytes<R>(
      _ body: (UnsafeMutableRawBufferPointer) throws -> R
    ) rethrows -> R {
      try self.bytes.withUnsafeMutableBytes(body)
    }
  }
}
