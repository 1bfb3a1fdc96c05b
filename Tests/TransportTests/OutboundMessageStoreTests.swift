import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import NIOEmbedded
import NIOHTTP2
import SidelightKernels
import SwiftProtobuf
import Testing

import SidelightTransport
import SidelightWire

/// Large messages, for which handles pass through gRPC.
@Suite struct OutboundMessageStoreTests {
  private static let outcome = Sidelight_V1_FilteredFrame.with {
    $0.sequence = 9
    $0.image.width = 3
  }

  /// Returns the bytes that gRPC gets for a message.
  private static func handle(
    _ envelope: PixelEnvelope<Sidelight_V1_ServerMessage>,
    _ messages: OutboundMessageStore.CallMessages
  ) throws -> [UInt8] {
    try OutgoingMessageSerializer().serialize(.envelope(envelope, messages))
  }

  /// A message with pixels, and how it is framed.
  private static func message(
    _ count: Int = 100_000
  ) throws -> (envelope: PixelEnvelope<Sidelight_V1_ServerMessage>, framed: [UInt8]) {
    let envelope = try PixelEnvelope.outcome(Self.outcome, pixelByteCount: count)
    for index in 0 ..< count { envelope.pixels.bytes[index] = UInt8(truncatingIfNeeded: index) }
    return (envelope, framed(try OutgoingMessageSerializer().serialize(.envelope(envelope, nil))))
  }

  @Test func `the bytes sent are the memory that was written, and nothing else`() throws {
    let pipeline = try CallPipeline()
    let messages = pipeline.store.makeCallMessages()
    let (envelope, expected) = try Self.message()
    let handle = try Self.handle(envelope, messages)
    #expect(handle.count < 100)
    let sent = try pipeline.send(framed(handle))
    #expect(sent.joined == expected)
    let written = UInt(bitPattern: envelope.pixels.bytes.baseAddress)
    #expect(sent.contains { $0.bytes.addresses.contains(written) })
    #expect(pipeline.store.messageCount == 0)
  }

  @Test(arguments: [(1000, false), (5000, true), (20_000, true)])
  func `a message in one buffer is copied only if it is short`(
    count: Int, isStored: Bool
  ) throws {
    let pipeline = try CallPipeline()
    let messages = pipeline.store.makeCallMessages()
    let (envelope, expected) = try Self.message(count)
    let handle = try Self.handle(envelope, messages)
    #expect(pipeline.store.messageCount == (isStored ? 1 : 0))
    let sent = try pipeline.send(framed(handle))
    #expect(sent.joined == expected)
    #expect(sent.count == 1)
    let written = UInt(bitPattern: envelope.pixels.bytes.baseAddress)
    #expect(sent.contains { $0.bytes.addresses.contains(written) } == isStored)
  }

  @Test func `a frame that passes is sent from where it came`() throws {
    let pipeline = try CallPipeline()
    let messages = pipeline.store.makeCallMessages()
    let frame = Sidelight_V1_ClientMessage.with {
      $0.frame.image.inline = Foundation.Data(repeating: 7, count: 100_000)
    }
    let received = try ReceivedMessageDeserializer<Sidelight_V1_ClientMessage>()
      .deserialize(GRPCNIOTransportBytes(try frame.serializedBytes() as [UInt8]))
    let pixels = try #require(received.pixels)
    let envelope = try #require(try PixelEnvelope.outcome(Self.outcome, passing: pixels))
    let sent = try pipeline.send(framed(try Self.handle(envelope, messages)))
    let came = UInt(bitPattern: pixels.bytes.baseAddress)
    #expect(sent.contains { $0.bytes.addresses.contains(came) })
    let message = try Sidelight_V1_ServerMessage(serializedBytes: [UInt8](sent.joined.dropFirst(5)))
    #expect(message.frame.image.inline == frame.frame.image.inline)
    #expect(message.frame.sequence == 9)
  }

  @Test
  func `a message that ends with its pixels is sent without an empty frame behind it`() throws {
    let pipeline = try CallPipeline()
    let messages = pipeline.store.makeCallMessages()
    let pixels = PixelBuffer(transportable: 70000)
    let envelope = try #require(
      try PixelEnvelope<Sidelight_V1_ClientMessage>(
        .with { $0.frame.image.width = 3 }, passing: pixels))
    let sent = try pipeline.send(
      framed(try OutgoingMessageSerializer().serialize(.envelope(envelope, messages))))
    #expect(sent.map(\.bytes.readableBytes).min() ?? 0 > 0)
    #expect(sent.count == 2)
  }

  @Test func `messages that gRPC writes together keep their order, stored ones included`() throws {
    let pipeline = try CallPipeline()
    let messages = pipeline.store.makeCallMessages()
    let (first, firstFramed) = try Self.message(70000)
    let (second, secondFramed) = try Self.message(80000)
    let small = (framed([1]), framed([]), framed([UInt8](repeating: 3, count: 32)))
    let sent = try pipeline.send(
      small.0 + framed(try Self.handle(first, messages)) + small.1
        + framed(try Self.handle(second, messages)) + small.2, endStream: true)
    #expect(sent.joined == small.0 + firstFramed + small.1 + secondFramed + small.2)
    #expect(sent.map(\.endStream).filter { $0 }.count == 1 && sent.last?.endStream == true)
  }

  @Test func `small messages are copied, and not stored`() throws {
    let store = OutboundMessageStore()
    let messages = store.makeCallMessages()
    let (envelope, expected) = try Self.message(1000)
    #expect(framed(try Self.handle(envelope, messages)) == expected)
    #expect(store.messageCount == 0)
  }

  @Test func `bytes that look like a handle and are none are sent unchanged`() throws {
    let pipeline = try CallPipeline()
    let (envelope, _) = try Self.message()
    // A handle of another store, and one with a different first byte.
    let elsewhere = OutboundMessageStore().makeCallMessages()
    let foreign = framed(try Self.handle(envelope, elsewhere))
    #expect(try pipeline.send(foreign).joined == foreign)
    let messages = pipeline.store.makeCallMessages()
    let handle = framed(try Self.handle(envelope, messages))
    var changed = handle
    changed[5] ^= 1
    #expect(try pipeline.send(changed).joined == changed)
    #expect(try pipeline.send(handle).joined != handle)
    withExtendedLifetime((elsewhere, messages)) {}
  }

  @Test func `a handle whose message is gone is not sent: the call is closed`() throws {
    let pipeline = try CallPipeline()
    let messages = pipeline.store.makeCallMessages()
    let (envelope, expected) = try Self.message()
    let handle = framed(try Self.handle(envelope, messages))
    #expect(try pipeline.send(handle).joined == expected)
    #expect(throws: (any Error).self) { try pipeline.send(handle) }
    #expect(try pipeline.channel.readOutbound(as: HTTP2Frame.FramePayload.self) == nil)
    #expect(!pipeline.channel.isActive)
    withExtendedLifetime(messages) {}
  }

  @Test func `the messages that a call leaves are released with it`() throws {
    let pipeline = try CallPipeline()
    var messages: OutboundMessageStore.CallMessages? = pipeline.store.makeCallMessages()
    let others = pipeline.store.makeCallMessages()
    let (envelope, expected) = try Self.message()
    let lost = framed(try Self.handle(envelope, try #require(messages)))
    let kept = framed(try Self.handle(envelope, others))
    #expect(pipeline.store.messageCount == 2)
    messages = nil
    #expect(pipeline.store.messageCount == 1)
    #expect(try pipeline.send(kept).joined == expected)
    #expect(throws: (any Error).self) { try pipeline.send(lost) }
    withExtendedLifetime(others) {}
  }

  @Test func `bytes that gRPC writes and flushes in the midst of a message come after it`() throws {
    let pipeline = try CallPipeline()
    let messages = pipeline.store.makeCallMessages()
    let (envelope, expected) = try Self.message()
    // gRPC writes the end of the call, and flushes, when the stream is full.
    let eager = WriteOnWrite(
      .data(.init(data: .byteBuffer(ByteBuffer(bytes: framed([9]))), endStream: true)))
    try pipeline.channel.pipeline.syncOperations.addHandler(eager, position: .first)
    let sent = try pipeline.send(
      framed([1]) + framed(try Self.handle(envelope, messages)) + framed([2]))
    #expect(sent.joined == framed([1]) + expected + framed([2]) + framed([9]))
    #expect(sent.last?.endStream == true)
    #expect(eager.writesAtFlush.first == sent.count)
  }

  /// Writes something from above during the first write, and flushes; and counts.
  private final class WriteOnWrite: ChannelOutboundHandler {
    typealias OutboundIn = HTTP2Frame.FramePayload

    private let payload: HTTP2Frame.FramePayload
    private var writes = 0
    private(set) var writesAtFlush: [Int] = []

    init(_ payload: HTTP2Frame.FramePayload) {
      self.payload = payload
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      self.writes += 1
      context.write(data, promise: promise)
      guard self.writes == 1 else { return }
      context.pipeline.syncOperations.writeAndFlush(NIOAny(self.payload), promise: nil)
    }

    func flush(context: ChannelHandlerContext) {
      self.writesAtFlush.append(self.writes)
      context.flush()
    }
  }
}
