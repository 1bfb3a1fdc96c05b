import NIOCore
import NIOHTTP2

/// The inbound handler next to gRPC on a call: passes whole messages on.
///
/// gRPC would append the pieces of a message to a buffer that grows by doubling, and copy all of it
/// each time. The prefix states the length, which this handler uses to reserve the memory once,
/// when the content begins to arrive. gRPC takes a buffer of whole messages as it is.
///
/// Whole messages are copied too, to release HTTP/2's buffer: it holds a quarter of a megabyte, and
/// is copied as a whole when more arrives while a slice of it is in use.
final class MessageAssembler: ChannelInboundHandler {
  typealias InboundIn = InboundCallPart
  typealias InboundOut = HTTP2Frame.FramePayload

  /// The bytes of a long message that must have arrived before its memory is reserved, because a
  /// peer may announce a message without sending it.
  private static let minReservingBytes = 64 << 10
  /// The size from which whole messages are copied. Shorter ones have few pixels, and are decoded
  /// before more arrives.
  private static let minCopiedBytes = 1 << 10

  private let maxMessageBytes: Int
  /// The bytes of an incomplete message, with its prefix.
  private var message = ByteBuffer()
  /// Whether a message is too long. gRPC refuses it, so all bytes pass on as they arrive.
  private var passesThrough = false

  /// - Parameter maxMessageBytes: The largest message that gRPC accepts.
  init(maxMessageBytes: Int) {
    self.maxMessageBytes = maxMessageBytes
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch self.unwrapInboundIn(data) {
    case .other(let payload): context.fireChannelRead(self.wrapInboundOut(payload))
    case .messages(let messages): self.receive(messages, context: context)
    }
  }

  private func receive(_ messages: MessageBytes, context: ChannelHandlerContext) {
    let isWhole = messages.segments.allSatisfy(self.isAccepted)
    if self.passesThrough || self.message.readableBytes == 0 && isWhole {
      return self.pass(
        isWhole ? Self.detached(messages.bytes) : messages.bytes, isLast: messages.endStream,
        context: context)
    }
    var bytes = messages.bytes
    /// The bytes of whole messages at the beginning of `bytes`.
    var whole = 0
    for segment in messages.segments {
      if self.isAccepted(segment) {
        whole += segment.byteCount
        continue
      }
      self.passSlice(whole, of: &bytes, context: context)
      whole = 0
      if let prefix = segment.prefix, prefix.length > self.maxMessageBytes {
        self.passesThrough = true
        if self.message.readableBytes > 0 { self.pass(self.message, context: context) }
        self.message = ByteBuffer()
        self.pass(bytes, context: context)
        bytes = ByteBuffer()
        break
      }
      self.append(segment, from: &bytes)
      if segment.isLast {
        self.pass(self.message, context: context)
        self.message = ByteBuffer()
      }
    }
    self.passSlice(whole, of: &bytes, context: context)
    guard messages.endStream else { return }
    self.pass(self.message, isLast: true, context: context)
    self.message = ByteBuffer()
  }

  /// Whether a segment is a whole message that gRPC accepts.
  private func isAccepted(_ segment: MessageSegment) -> Bool {
    segment.isWhole && (segment.prefix?.length ?? 0) <= self.maxMessageBytes
  }

  /// Appends a segment to the incomplete message, and reserves the memory of the whole message.
  private func append(_ segment: MessageSegment, from bytes: inout ByteBuffer) {
    if let prefix = segment.prefix {
      let length = MessagePrefix.byteCount + prefix.length
      if self.message.readableBytes + segment.byteCount >= min(length, Self.minReservingBytes) {
        self.message.reserveCapacity(length)
      }
    }
    guard let piece = bytes.readSlice(length: segment.byteCount) else { return }
    self.message.writeImmutableBuffer(piece)
  }

  private func passSlice(
    _ count: Int, of bytes: inout ByteBuffer, context: ChannelHandlerContext
  ) {
    guard count > 0, let slice = bytes.readSlice(length: count) else { return }
    self.pass(Self.detached(slice), context: context)
  }

  /// Returns the same bytes in separate memory, unless they are few.
  private static func detached(_ bytes: ByteBuffer) -> ByteBuffer {
    guard bytes.readableBytes >= Self.minCopiedBytes else { return bytes }
    var copy = ByteBuffer()
    copy.reserveCapacity(bytes.readableBytes)
    copy.writeImmutableBuffer(bytes)
    return copy
  }

  private func pass(_ bytes: ByteBuffer, isLast: Bool = false, context: ChannelHandlerContext) {
    context.fireChannelRead(
      self.wrapInboundOut(.data(.init(data: .byteBuffer(bytes), endStream: isLast))))
  }
}
