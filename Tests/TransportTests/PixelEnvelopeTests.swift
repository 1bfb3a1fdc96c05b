import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import SidelightKernels
import SwiftProtobuf
import Testing

import SidelightTransport
import SidelightWire

/// Messages whose pixels are written in place.
@Suite struct PixelEnvelopeTests {
  private static let outcome = Sidelight_V1_FilteredFrame.with {
    $0.sequence = 1 << 40
    $0.image.format = .bgra8
    $0.image.width = 1920
    $0.image.height = 1080
    $0.image.color.range = .full
    $0.captureTimeNs = -5
    $0.rtpTimestamp = 90000
    $0.revision = 300
    $0.disposition = .filtered
    $0.tags = ["camera": "2"]
  }

  private static func serialize(
    _ envelope: PixelEnvelope<Sidelight_V1_ServerMessage>
  ) throws -> GRPCNIOTransportBytes {
    try OutgoingMessageSerializer().serialize(.envelope(envelope, nil))
  }

  @Test(
    arguments: [0, 1, 127, 128, 16383, 16384, 2_097_151, 2_097_152])
  func `the generated code reads what was written in place`(count: Int) throws {
    let envelope = try PixelEnvelope.outcome(Self.outcome, pixelByteCount: count)
    let pixels = envelope.pixels
    #expect(pixels.byteCount == count)
    for index in 0 ..< count { pixels.bytes[index] = UInt8(truncatingIfNeeded: index) }
    let timing = Sidelight_V1_FrameTiming.with {
      $0.queueUs = 0
      $0.processUs = 1234
      $0.totalUs = .max
    }
    envelope.setTiming(timing)
    var expected = Sidelight_V1_ServerMessage.with {
      $0.frame = Self.outcome
      $0.frame.timing = timing
    }
    expected.frame.image.inline = Data((0 ..< count).map { UInt8(truncatingIfNeeded: $0) })
    let bytes = try Self.serialize(envelope)
    #expect(try Sidelight_V1_ServerMessage(serializedBytes: bytes.contents) == expected)
  }

  @Test func `a client's frame is read back without a copy by the server's reader`() throws {
    let frame = Sidelight_V1_Frame.with {
      $0.sequence = 3
      $0.image.format = .gray8
      $0.image.width = 4
      $0.image.height = 1
    }
    let envelope = try PixelEnvelope<Sidelight_V1_ClientMessage>(
      .with { $0.frame = frame }, pixelByteCount: 4)
    envelope.pixels.bytes.copyBytes(from: [1, 2, 3, 4])
    let bytes: GRPCNIOTransportBytes = try OutgoingMessageSerializer().serialize(
      .envelope(envelope, nil))
    let received = try ReceivedMessageDeserializer<Sidelight_V1_ClientMessage>()
      .deserialize(bytes)
    #expect(try [UInt8](#require(received.pixels).bytes) == [1, 2, 3, 4])
    #expect(received.message.frame.sequence == 3)
  }

  @Test(
    arguments: [
      [0xA3, 0x06, 0xA4, 0x06],  // field 100, an empty group
      [0x78, 0x05],  // field 15 as a number
      [0xD2, 0x3E, 0x01, 0x61],  // field 1002, a string
    ] as [[UInt8]])
  func `unknown fields of an image are not repeated, whatever they look like`(_ stray: [UInt8])
    throws
  {
    let image: [UInt8] = [0x08, 0x04, 0x10, 0x02, 0x18, 0x02] + stray + [0x7A, 0x00]
    var outcome = Self.outcome
    outcome.image = try Sidelight_V1_Image(serializedBytes: image)
    let envelope = try PixelEnvelope.outcome(outcome, pixelByteCount: 4)
    envelope.pixels.bytes.copyBytes(from: [1, 2, 3, 4])
    let message = try Sidelight_V1_ServerMessage(
      serializedBytes: try Self.serialize(envelope).contents)
    #expect(message.frame.image.inline == Data([1, 2, 3, 4]))
    #expect(message.frame.image.unknownFields.data.isEmpty)
  }

  @Test
  func `a message around pixels that came is the same as one that they were written into`() throws {
    let pixels = (0 ..< 70000).map { UInt8(truncatingIfNeeded: $0) }
    let around = try #require(
      try PixelEnvelope.outcome(Self.outcome, passing: PixelBuffer(copying: pixels)))
    let written = try PixelEnvelope.outcome(Self.outcome, pixelByteCount: pixels.count)
    written.pixels.bytes.copyBytes(from: pixels)
    let timing = Sidelight_V1_FrameTiming.with { $0.totalUs = 77 }
    around.setTiming(timing)
    written.setTiming(timing)
    #expect(try Self.serialize(around).contents == Self.serialize(written).contents)
    #expect(around.byteCount == written.byteCount)
  }

  @Test func `a message without a place for pixels is refused`() {
    #expect(throws: PixelEnvelopeError.self) {
      try PixelEnvelope<Sidelight_V1_ServerMessage>(
        .with { $0.stats.received = 1 }, pixelByteCount: 1)
    }
  }

  @Test func `other transports get a copy`() throws {
    let envelope = try PixelEnvelope.outcome(Self.outcome, pixelByteCount: 3)
    envelope.pixels.bytes.copyBytes(from: [7, 8, 9])
    let bytes: [UInt8] = try OutgoingMessageSerializer().serialize(.envelope(envelope, nil))
    let message = try Sidelight_V1_ServerMessage(serializedBytes: bytes)
    #expect(message.frame.image.inline == Data([7, 8, 9]))
  }
}

extension GRPCContiguousBytes {
  fileprivate var contents: [UInt8] { self.withUnsafeBytes { [UInt8]($0) } }
}

/// Memory that is written using a pointer and sent as it is.
@Suite struct WritableByteBufferTests {
  @Test func `later writes reach the transport, from the same memory`() throws {
    let pixels = PixelBuffer(transportable: 200_000)
    var sent = try #require(pixels.transportBytes)
    for index in 0 ..< pixels.byteCount { pixels.bytes[index] = UInt8(truncatingIfNeeded: index) }
    #expect(sent.readableBytes == 200_000)
    #expect(sent.getInteger(at: 199_999, as: UInt8.self) == UInt8(199_999 & 0xFF))
    // A copy that is changed gets separate memory.
    sent.setInteger(0, at: 1, as: UInt8.self)
    #expect(pixels.bytes[1] == 1)
  }

  @Test func `the memory outlives every buffer but the one that points to it`() {
    var pixels: PixelBuffer? = PixelBuffer(transportable: 100_000)
    pixels?.bytes.initializeMemory(as: UInt8.self, repeating: 7)
    var sent = pixels?.transportBytes
    pixels = nil
    #expect(sent?.readableBytesView.allSatisfy { $0 == 7 } == true)
    sent = nil
    let kept = PixelBuffer(transportable: 100_000)
    kept.bytes.initializeMemory(as: UInt8.self, repeating: 9)
    _ = kept.transportBytes
    let isWhole = kept.bytes.allSatisfy { $0 == 9 }
    #expect(isWhole)
  }
}
