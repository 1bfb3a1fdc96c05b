import NIOCore
import NIOHTTP2

/// Stands between gRPC and HTTP/2 on a call, and puts the messages that lie at a desk where their claim
/// checks stand.
final class ClaimRedeemer: ChannelOutboundHandler {
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let desk: ClaimDesk
  private let writes = SerialWrites()

  init(_ desk: ClaimDesk) {
    self.desk = desk
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let payload = self.unwrapOutboundIn(data)
    if case .data(let content) = payload, case .byteBuffer(let framed) = content.data {
      do {
        self.append(try self.pieces(of: framed), endStream: content.endStream, promise)
      } catch {
        // Better no message than a wrong one.
        promise?.fail(error)
        return context.close(promise: nil)
      }
    } else {
      self.writes.append(payload, promise: promise)
    }
    self.writes.run(context: context)
  }

  func flush(context: ChannelHandlerContext) {
    self.writes.appendFlush()
    self.writes.run(context: context)
  }

  private func append(
    _ pieces: [ByteBuffer], endStream: Bool, _ promise: EventLoopPromise<Void>?
  ) {
    for (index, piece) in pieces.enumerated() {
      let isLast = index == pieces.count - 1
      self.writes.append(
        .data(.init(data: .byteBuffer(piece), endStream: isLast && endStream)),
        promise: isLast ? promise : nil)
    }
  }

  /// What is to be written for messages that gRPC has framed, one behind the other.
  ///
  /// - Throws: `ClaimDesk.Unredeemable`.
  private func pieces(of framed: ByteBuffer) throws -> [ByteBuffer] {
    var pieces: [ByteBuffer] = []
    var rest = framed
    /// The offset of the next message in what is left.
    var offset = 0
    while let length = rest.getInteger(at: rest.readerIndex + offset + 1, as: UInt32.self) {
      let next = offset + FramedMessage.prefixByteCount + Int(length)
      if length == ClaimCheck.byteCount,
        let check = ClaimCheck(
          at: rest.readerIndex + offset + FramedMessage.prefixByteCount, of: rest),
        let message = try self.desk.redeem(check)
      {
        if let before = rest.readSlice(length: offset), offset > 0 { pieces.append(before) }
        rest.moveReaderIndex(forwardBy: next - offset)
        pieces += message.pieces
        offset = 0
      } else {
        offset = next
      }
    }
    if rest.readableBytes > 0 || pieces.isEmpty { pieces.append(rest) }
    return pieces
  }
}
