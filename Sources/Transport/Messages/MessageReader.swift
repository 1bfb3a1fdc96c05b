import NIOCore
import NIOHTTP2
import SidelightWire

/// The inbound handler behind ``CallWriter`` on a call: finds the messages in the bytes of DATA
/// frames.
///
/// On a server it delivers them in batches, one per poll of the event loop
/// (``Guard/messageBatches``). A single DATA frame can hold a hundred thousand messages of a few
/// bytes; without batches all of them would be decoded and handled before the loop polls its
/// sockets again, and every other connection of that loop would wait. Bytes that wait here stay in
/// order; a reset or a closed stream discards them.
final class MessageReader: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = InboundCallPart
  typealias OutboundIn = OutboundCallPart
  typealias OutboundOut = OutboundCallPart

  /// The delivery in batches, on a server.
  struct Batching {
    /// The ticks of the server's event loops.
    var ticks: EventLoopTicks
    /// The peer's address.
    var address: String
    /// Counts the calls that were held back.
    var counters: ConnectionCounters
  }

  /// The weight of a batch: a message counts 1, and 1 more per ``bytesPerWeight`` bytes. A batch
  /// ends where this is used up, at 16 messages or some 8 KiB of small ones.
  private static let batchWeight = 16
  private static let bytesPerWeight = 512
  /// The maximum number of messages that are delivered together without batches, because segments
  /// take memory.
  private static let maxSegments = 1024

  private let batching: Batching?
  private var waiting: CircularBuffer<HTTP2Frame.FramePayload> = []
  private var cursor = MessageCursor()
  /// The weight that may still be delivered before the next poll.
  private var budget = MessageReader.batchWeight
  /// Whether the handlers above have requested a read.
  private var isReadPending = false
  private var isTickRequested = false
  /// Whether the counters include this call.
  private var isRecorded = false

  /// - Parameter batching: `nil` delivers everything as it arrives.
  init(_ batching: Batching? = nil) {
    self.batching = batching
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let payload = self.unwrapInboundIn(data)
    if case .rstStream = payload {
      // The client has abandoned the call.
      self.waiting.removeAll()
      return context.fireChannelRead(self.wrapInboundOut(.other(payload)))
    }
    guard self.batching != nil else { return self.deliver(payload, context: context) }
    self.waiting.append(payload)
    self.deliverBatch(context: context)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // HTTP/2 has delivered everything of a poll.
    if self.waiting.isEmpty { self.budget = Self.batchWeight }
    context.fireChannelReadComplete()
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.waiting.removeAll()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.waiting.removeAll() }

  func read(context: ChannelHandlerContext) {
    guard let batching, !self.waiting.isEmpty else { return context.read() }
    self.isReadPending = true
    guard !self.isTickRequested else { return }
    self.isTickRequested = true
    if !self.isRecorded {
      self.isRecorded = true
      batching.counters.record(.messageBatches, against: batching.address)
    }
    batching.ticks.tick(of: context.eventLoop).afterPoll { self.handleTick(context: context) }
  }

  private func handleTick(context: ChannelHandlerContext) {
    self.isTickRequested = false
    guard self.isReadPending, !self.waiting.isEmpty else { return }
    self.isReadPending = false
    self.budget = Self.batchWeight
    self.deliverBatch(context: context)
    context.fireChannelReadComplete()
    // The stream reads automatically only after data that it has delivered itself.
    context.channel.read()
  }

  /// Delivers a payload at once.
  private func deliver(_ payload: HTTP2Frame.FramePayload, context: ChannelHandlerContext) {
    guard case .data(let data) = payload, case .byteBuffer(let bytes) = data.data else {
      return context.fireChannelRead(self.wrapInboundOut(.other(payload)))
    }
    var rest = bytes
    repeat {
      let (segments, _) = self.cursor.segments(of: rest, weight: Self.maxSegments)
      let count = segments.reduce(0) { $0 + $1.byteCount }
      guard let slice = rest.readSlice(length: count) else { return }
      self.pass(
        slice, segments, endStream: data.endStream && rest.readableBytes == 0, context: context)
    } while rest.readableBytes > 0
  }

  /// Delivers from the head of the queue as much as the budget allows. A message that has begun is
  /// delivered to its end.
  private func deliverBatch(context: ChannelHandlerContext) {
    while self.budget > 0 || self.cursor.isWithinMessage,
      let payload = self.waiting.popFirst()
    {
      guard case .data(let data) = payload, case .byteBuffer(var bytes) = data.data else {
        context.fireChannelRead(self.wrapInboundOut(.other(payload)))
        continue
      }
      let (segments, weight) = self.cursor.segments(
        of: bytes, weight: self.budget, bytesPerWeight: Self.bytesPerWeight)
      self.budget -= weight
      let count = segments.reduce(0) { $0 + $1.byteCount }
      guard count < bytes.readableBytes, let batch = bytes.readSlice(length: count) else {
        self.pass(bytes, segments, endStream: data.endStream, context: context)
        continue
      }
      self.waiting.prepend(
        .data(.init(data: .byteBuffer(bytes), endStream: data.endStream)))
      if batch.readableBytes > 0 {
        self.pass(batch, segments, endStream: false, context: context)
      }
    }
  }

  private func pass(
    _ bytes: ByteBuffer, _ segments: [MessageSegment], endStream: Bool,
    context: ChannelHandlerContext
  ) {
    context.fireChannelRead(
      self.wrapInboundOut(
        .messages(MessageBytes(bytes: bytes, segments: segments, endStream: endStream))))
  }
}
