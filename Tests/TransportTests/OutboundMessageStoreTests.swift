import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import NIOEmbedded
import NIOHTTP2
import SidelightKernels
import SwiftProtobuf
import Testing

import SidelightWire

/// Large messages, for which claim checks go through gRPC.
@Suite struct ClaimDeskTests {
  private static let outcome = Sidelight_V1_FilteredFrame.with {
    $0.sequence = 9
    $0.image.width = 3
  }

  /// What gRPC is given to write for a message.
  private static func standIn(
    _ envelope: PixelEnvelope<Sidelight_V1_ServerMessage>, _ deposits: ClaimDesk.Deposits
  ) throws -> [UInt8] {
    try OutgoingMessageSerializer().serialize(.envelope(envelope, deposits))
  }

  /// A message with pixels, and how it is framed.
  private static func message(
    _ count: Int = 100_000
  ) throws -> (envelope: PixelEnvelope<Sidelight_V1_ServerMessage>, framed: [UInt8]) {
    let envelope = try PixelEnvelope.outcome(Self.outcome, pixelByteCount: count)
    for index in 0 ..< count { envelope.pixels.bytes[index] = UInt8(truncatingIfNeeded: index) }
    return (envelope, framed(try OutgoingMessageSerializer().serialize(.envelope(envelope, nil))))
  }

  @Test("What is sent is the memory that was written, and nothing else")
  func writtenInPlace() throws {
    let pipeline = try CallPipeline()
    let deposits = pipeline.desk.deposits()
    let (envelope, expected) = try Self.message()
    let standIn = try Self.standIn(envelope, deposits)
    #expect(standIn.count < 100)
    let sent = try pipeline.send(framed(standIn))
    #expect(sent.joined == expected)
    let written = UInt(bitPattern: envelope.pixels.bytes.baseAddress)
    #expect(sent.contains { $0.bytes.addresses.contains(written) })
    #expect(pipeline.desk.messageCount == 0)
  }

  @Test("A frame that passes is sent from where it came")
  func passed() throws {
    let pipeline = try CallPipeline()
    let deposits = pipeline.desk.deposits()
    let frame = Sidelight_V1_ClientMessage.with {
      $0.frame.image.inline = Foundation.Data(repeating: 7, count: 100_000)
    }
    let received = try ReceivedMessageDeserializer<Sidelight_V1_ClientMessage>()
      .deserialize(GRPCNIOTransportBytes(try frame.serializedBytes() as [UInt8]))
    let envelope = try PixelEnvelope.outcome(
      Self.outcome, passing: try #require(received.pixels?.transportBytes))
    let sent = try pipeline.send(framed(try Self.standIn(envelope, deposits)))
    let came = UInt(bitPattern: try #require(received.pixels).bytes.baseAddress)
    #expect(sent.contains { $0.bytes.addresses.contains(came) })
    let message = try Sidelight_V1_ServerMessage(serializedBytes: [UInt8](sent.joined.dropFirst(5)))
    #expect(message.frame.image.inline == frame.frame.image.inline)
    #expect(message.frame.sequence == 9)
  }

  @Test("A message that ends with its pixels is sent without an empty frame behind it")
  func nothingBehind() throws {
    let pipeline = try CallPipeline()
    let deposits = pipeline.desk.deposits()
    let pixels = PixelBuffer(transportable: 70000)
    let envelope = try PixelEnvelope<Sidelight_V1_ClientMessage>(
      .with { $0.frame.image.width = 3 }, passing: try #require(pixels.transportBytes))
    let sent = try pipeline.send(
      framed(try OutgoingMessageSerializer().serialize(.envelope(envelope, deposits))))
    #expect(sent.map(\.bytes.readableBytes).min() ?? 0 > 0)
    #expect(sent.count == 2)
  }

  @Test("Messages that gRPC writes together keep their order, around those that lie at the desk")
  func order() throws {
    let pipeline = try CallPipeline()
    let deposits = pipeline.desk.deposits()
    let (first, firstFramed) = try Self.message(70000)
    let (second, secondFramed) = try Self.message(80000)
    let small = (framed([1]), framed([]), framed([UInt8](repeating: 3, count: 32)))
    let sent = try pipeline.send(
      small.0 + framed(try Self.standIn(first, deposits)) + small.1
        + framed(try Self.standIn(second, deposits)) + small.2, endStream: true)
    #expect(sent.joined == small.0 + firstFramed + small.1 + secondFramed + small.2)
    #expect(sent.map(\.endStream).filter { $0 }.count == 1 && sent.last?.endStream == true)
  }

  @Test("Small messages are copied: no desk is needed for them")
  func small() throws {
    let desk = ClaimDesk()
    let deposits = desk.deposits()
    let (envelope, expected) = try Self.message(1000)
    #expect(framed(try Self.standIn(envelope, deposits)) == expected)
    #expect(desk.messageCount == 0)
  }

  @Test("What looks like a check and is none is sent as it is")
  func forged() throws {
    let pipeline = try CallPipeline()
    let (envelope, _) = try Self.message()
    // Another desk's, and one whose first byte was changed.
    let elsewhere = ClaimDesk().deposits()
    let foreign = framed(try Self.standIn(envelope, elsewhere))
    #expect(try pipeline.send(foreign).joined == foreign)
    let deposits = pipeline.desk.deposits()
    let check = framed(try Self.standIn(envelope, deposits))
    var changed = check
    changed[5] ^= 1
    #expect(try pipeline.send(changed).joined == changed)
    #expect(try pipeline.send(check).joined != check)
    withExtendedLifetime((elsewhere, deposits)) {}
  }

  @Test("A check whose message is gone is never sent: the call is closed")
  func spent() throws {
    let pipeline = try CallPipeline()
    let deposits = pipeline.desk.deposits()
    let (envelope, expected) = try Self.message()
    let check = framed(try Self.standIn(envelope, deposits))
    #expect(try pipeline.send(check).joined == expected)
    #expect(throws: (any Error).self) { try pipeline.send(check) }
    #expect(try pipeline.channel.readOutbound(as: HTTP2Frame.FramePayload.self) == nil)
    #expect(!pipeline.channel.isActive)
    withExtendedLifetime(deposits) {}
  }

  @Test("What is left of a call's messages is given up with it")
  func leftBehind() throws {
    let pipeline = try CallPipeline()
    var deposits: ClaimDesk.Deposits? = pipeline.desk.deposits()
    let others = pipeline.desk.deposits()
    let (envelope, expected) = try Self.message()
    let lost = framed(try Self.standIn(envelope, try #require(deposits)))
    let kept = framed(try Self.standIn(envelope, others))
    #expect(pipeline.desk.messageCount == 2)
    deposits = nil
    #expect(pipeline.desk.messageCount == 1)
    #expect(try pipeline.send(kept).joined == expected)
    #expect(throws: (any Error).self) { try pipeline.send(lost) }
    withExtendedLifetime(others) {}
  }

  @Test("What gRPC writes and flushes in the midst of a message comes behind it")
  func reentrant() throws {
    let pipeline = try CallPipeline()
    let deposits = pipeline.desk.deposits()
    let (envelope, expected) = try Self.message()
    // gRPC writes the end of the call, and flushes, where the stream has no room any more.
    let eager = WriteOnWrite(
      .data(.init(data: .byteBuffer(ByteBuffer(bytes: framed([9]))), endStream: true)))
    try pipeline.channel.pipeline.syncOperations.addHandler(eager, position: .first)
    let sent = try pipeline.send(
      framed([1]) + framed(try Self.standIn(envelope, deposits)) + framed([2]))
    #expect(sent.joined == framed([1]) + expected + framed([2]) + framed([9]))
    #expect(sent.last?.endStream == true)
    #expect(eager.writesAtFlush.first == sent.count)
  }

  /// Writes something from above in the midst of the first write, and flushes; and counts.
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
