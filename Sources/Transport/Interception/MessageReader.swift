import NIOCore
import NIOHTTP2

/// The inbound handler behind ``CallWriter`` on a call: finds the messages in the bytes of DATA
/// frames.
///
/// On a server it delivers them in batches (``CallLimiter/deliversBatches``). Bytes that wait here
/// stay in order; a reset or a closed stream discards them.
final class MessageReader: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = InboundCallPart
  typealias OutboundIn = OutboundCallPart
  typealias OutboundOut = OutboundCallPart

  /// The weight of the messages that are delivered together without batches, because segments take
  /// memory.
  private static let maxWeight = 1024

  /// The limits of a server's call, if messages are delivered in batches.
  private let limiter: CallLimiter?
  private var waiting: CircularBuffer<HTTP2Frame.FramePayload> = []
  private var cursor = MessageCursor()

  /// - Parameter limiter: The limits of a server's call; `nil` delivers everything as it arrives.
  init(_ limiter: CallLimiter? = nil) {
    self.limiter = limiter?.deliversBatches == true ? limiter : nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let payload = self.unwrapInboundIn(data)
    if case .rstStream = payload {
      // The client has abandoned the call.
      self.waiting.removeAll()
      return context.fireChannelRead(self.wrapInboundOut(.other(payload)))
    }
    self.waiting.append(payload)
    self.deliver(context: context)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // HTTP/2 has delivered everything of a poll.
    if self.waiting.isEmpty { self.limiter?.renewBatch() }
    context.fireChannelReadComplete()
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.waiting.removeAll()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.waiting.removeAll() }

  func read(context: ChannelHandlerContext) {
    guard let limiter, !self.waiting.isEmpty else { return context.read() }
    limiter.awaitBatch(on: context.eventLoop) {
      guard !self.waiting.isEmpty else { return }
      self.deliver(context: context)
      context.fireChannelReadComplete()
      // The stream reads automatically only after data that it has delivered itself.
      context.channel.read()
    }
  }

  /// Delivers from the head of the queue as much as the batch allows. A message that has begun is
  /// delivered to its end.
  private func deliver(context: ChannelHandlerContext) {
    while self.weightLimit > 0 || self.cursor.isWithinMessage,
      let payload = self.waiting.popFirst()
    {
      guard case .data(let data) = payload, case .byteBuffer(var bytes) = data.data else {
        context.fireChannelRead(self.wrapInboundOut(.other(payload)))
        continue
      }
      let (segments, weight) = self.cursor.segments(
        of: bytes, weight: self.weightLimit, bytesPerWeight: CallLimiter.bytesPerWeight)
      self.limiter?.spend(weight)
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

  /// The weight of the messages that may be delivered together.
  private var weightLimit: Int { self.limiter?.batchBudget ?? Self.maxWeight }

  private func pass(
    _ bytes: ByteBuffer, _ segments: [MessageSegment], endStream: Bool,
    context: ChannelHandlerContext
  ) {
    context.fireChannelRead(
      self.wrapInboundOut(
        .messages(MessageBytes(bytes: bytes, segments: segments, endStream: endStream))))
  }
}
