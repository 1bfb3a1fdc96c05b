import NIOCore
import NIOHTTP2

/// Stands between HTTP/2 and gRPC on a call, and hands on whole messages.
///
/// gRPC would append what comes of a message to a buffer that grows by doubling, and copy what it has each
/// time. How long a message will be stands before it, so here it gets its room as soon as its pixels begin to
/// come; a buffer with whole messages gRPC takes as it is.
final class MessageAssembler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload

  /// So much of a long message has to be there before it gets its room: who only announces it gets none.
  private static let earnest = 64 << 10

  private let maxMessageBytes: Int
  /// What has come of a message that is not whole, with its prefix.
  private var message = ByteBuffer()
  /// The bytes that it will have; of its prefix, while that is not whole.
  private var length = FramedMessage.prefixByteCount
  /// Whether a message is too long. gRPC is to judge that, and gets everything as it comes.
  private var isPassing = false

  /// - Parameter maxMessageBytes: The most bytes of a message that gRPC takes.
  init(maxMessageBytes: Int) {
    self.maxMessageBytes = maxMessageBytes
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !self.isPassing, case .data(let payload) = self.unwrapInboundIn(data),
      case .byteBuffer(var bytes) = payload.data
    else { return context.fireChannelRead(data) }
    if self.message.readableBytes == 0, self.wholeMessages(in: bytes) == bytes.readableBytes {
      return context.fireChannelRead(data)
    }
    while bytes.readableBytes > 0, !self.isPassing {
      if self.message.readableBytes == 0,
        let whole = bytes.readSlice(length: self.wholeMessages(in: bytes)), whole.readableBytes > 0
      {
        self.pass(whole, context: context)
      } else if let message = self.take(from: &bytes) {
        self.pass(message, context: context)
      }
    }
    if self.isPassing { self.pass(bytes, context: context) }
    guard payload.endStream else { return }
    self.pass(self.message, isLast: true, context: context)
    self.message = ByteBuffer()
  }

  /// The bytes of the messages that are whole where bytes begin with a message.
  private func wholeMessages(in bytes: ByteBuffer) -> Int {
    var end = 0
    while let length = bytes.getInteger(at: bytes.readerIndex + end + 1, as: UInt32.self) {
      let next = end + FramedMessage.prefixByteCount + Int(length)
      guard Int(length) <= self.maxMessageBytes, next <= bytes.readableBytes else { break }
      end = next
    }
    return end
  }

  /// Goes on with a message that comes in pieces, or begins it.
  ///
  /// - Returns: What is to be handed on: the message when it is whole, or its prefix when it is too long.
  private func take(from bytes: inout ByteBuffer) -> ByteBuffer? {
    let missing = self.length - self.message.readableBytes
    if self.message.readableBytes + bytes.readableBytes >= min(self.length, Self.earnest) {
      self.message.reserveCapacity(self.length)
    }
    guard let piece = bytes.readSlice(length: min(missing, bytes.readableBytes)) else { return nil }
    self.message.writeImmutableBuffer(piece)
    guard self.message.readableBytes == self.length else { return nil }
    if self.length == FramedMessage.prefixByteCount,
      let content = self.message.getInteger(at: self.message.readerIndex + 1, as: UInt32.self)
    {
      self.isPassing = content > self.maxMessageBytes
      if content > 0, !self.isPassing {
        self.length += Int(content)
        return nil
      }
    }
    defer {
      self.message = ByteBuffer()
      self.length = FramedMessage.prefixByteCount
    }
    return self.message
  }

  private func pass(_ bytes: ByteBuffer, isLast: Bool = false, context: ChannelHandlerContext) {
    context.fireChannelRead(
      self.wrapInboundOut(.data(.init(data: .byteBuffer(bytes), endStream: isLast))))
  }
}
