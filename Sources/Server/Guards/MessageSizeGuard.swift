import NIOCore
import NIOHPACK
import NIOHTTP2

/// Ends a stream with RESOURCE_EXHAUSTED and the limit when a message announces more bytes than are
/// accepted, before any of them is kept. The transport by itself would reset the stream without a
/// status, and the client could only guess.
final class MessageSizeGuard: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let limit: Int
  private var scanner = MessageLengthScanner()
  private var hasResponseHeaders = false
  /// Bytes of the refused message that are still read and thrown away; `nil` before a refusal.
  private var patience: Int?

  /// - Parameter limit: The bytes of the largest message that is accepted.
  init(limit: Int) {
    self.limit = limit
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .data(let payload) = self.unwrapInboundIn(data),
      case .byteBuffer(let bytes) = payload.data
    else {
      if self.patience == nil { context.fireChannelRead(data) }
      return
    }
    if let patience {
      self.patience = patience - bytes.readableBytes
      if patience < bytes.readableBytes { context.close(promise: nil) }
    } else if let length = self.scanner.scan(bytes.readableBytesView, limit: self.limit) {
      self.refuse(length, context: context)
    } else {
      context.fireChannelRead(data)
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard self.patience == nil else {
      promise?.fail(ChannelError.outputClosed)
      return
    }
    if case .headers = self.unwrapOutboundIn(data) { self.hasResponseHeaders = true }
    context.write(data, promise: promise)
  }

  private func refuse(_ length: Int, context: ChannelHandlerContext) {
    // A reset now would reach the client before it has read the status, and take its place. So the
    // rest of the message is read, within reason, until the client has understood.
    self.patience = length + self.limit
    var trailers: HPACKHeaders =
      self.hasResponseHeaders ? [:] : [":status": "200", "content-type": "application/grpc"]
    trailers.add(name: "grpc-status", value: "8")
    trailers.add(
      name: "grpc-message",
      value:
        "A message of \(length) bytes was sent, the limit (max_message_bytes) is \(self.limit).")
    context.writeAndFlush(
      self.wrapOutboundOut(.headers(.init(headers: trailers, endStream: true))), promise: nil)
    // For the session it is as if the client had closed its side.
    context.fireChannelRead(
      self.wrapInboundOut(.data(.init(data: .byteBuffer(ByteBuffer()), endStream: true))))
  }
}
