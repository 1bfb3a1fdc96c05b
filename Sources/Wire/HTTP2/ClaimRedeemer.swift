import NIOCore
import NIOHTTP2

/// Stands between gRPC and HTTP/2 on a call, and puts the messages that lie at a desk where their claim
/// checks stand.
final class ClaimRedeemer: ChannelOutboundHandler {
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let desk: ClaimDesk
  /// Whether pieces of messages are being written.
  private var isWriting = false
  /// What gRPC has written meanwhile.
  private var heldBack: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []
  private var isFlushHeldBack = false

  init(_ desk: ClaimDesk) {
    self.desk = desk
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    // gRPC goes on when the stream has no room any more, which is in the midst of a large message.
    guard !self.isWriting else { return self.heldBack.append((data, promise)) }
    guard case .data(let payload) = self.unwrapOutboundIn(data),
      case .byteBuffer(let framed) = payload.data, let pieces = self.pieces(of: framed)
    else { return context.write(data, promise: promise) }
    self.isWriting = true
    for (index, piece) in pieces.enumerated() {
      let isLast = index == pieces.count - 1
      context.write(
        self.wrapOutboundOut(
          .data(.init(data: .byteBuffer(piece), endStream: isLast && payload.endStream))),
        promise: isLast ? promise : nil)
    }
    self.isWriting = false
    let next = self.heldBack
    self.heldBack = []
    for (data, promise) in next { self.write(context: context, data: data, promise: promise) }
    if self.isFlushHeldBack { self.flush(context: context) }
  }

  func flush(context: ChannelHandlerContext) {
    self.isFlushHeldBack = self.isWriting
    if !self.isWriting { context.flush() }
  }

  /// What is to be written for messages that gRPC has framed, one behind the other.
  ///
  /// - Returns: `nil` if that is what there was.
  private func pieces(of framed: ByteBuffer) -> [ByteBuffer]? {
    var pieces: [ByteBuffer] = []
    var rest = framed
    /// The offset of the next message in what is left.
    var offset = 0
    while let length = rest.getInteger(at: rest.readerIndex + offset + 1, as: UInt32.self) {
      let next = offset + FramedMessage.prefixByteCount + Int(length)
      if length == ClaimCheck.byteCount,
        let check = ClaimCheck(
          at: rest.readerIndex + offset + FramedMessage.prefixByteCount, of: rest),
        let message = self.desk.redeem(check)
      {
        if let before = rest.readSlice(length: offset), offset > 0 { pieces.append(before) }
        rest.moveReaderIndex(forwardBy: next - offset)
        pieces += message.pieces
        offset = 0
      } else {
        offset = next
      }
    }
    guard !pieces.isEmpty else { return nil }
    if rest.readableBytes > 0 { pieces.append(rest) }
    return pieces
  }
}
