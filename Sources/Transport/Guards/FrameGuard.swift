import NIOCore

/// Looks at HTTP/2's frames before the stack above sees them.
///
/// It answers PINGs (``Guard/pings``): the limit above of 200 in 30 seconds cannot be set from outside, and
/// grpc-go sends one for each burst of data that it receives. Those beyond a budget of ours are left to it.
///
/// It closes connections that give up one call after the other (``Guard/resets``), before the limit above
/// is met: what that does to a connection leaves memory behind.
///
/// And it ends what was being read when a connection closes in the midst of it. The stack above keeps a
/// list of the streams that have read until it is told that the read is complete. The socket does not tell
/// that any more once it is closed, and the list keeps the streams, the connection, its buffers, half a
/// megabyte in all, for ever.
final class FrameGuard: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = IOData

  private var scanner = HTTP2FrameScanner()
  private var pings: RateBudget?
  private var resets: RateBudget?
  private let ledger: ConnectionLedger
  private var countedResets = 0
  /// What is to be written when what has come is read: one write, however many PINGs.
  private var answers = ByteBuffer()
  /// Whether the stack above has read and was not told yet that this was all.
  private var isReading = false

  /// - Parameters:
  ///   - pings: PINGs that are answered; none: none is.
  ///   - resets: Calls that may be given up; none: any.
  ///   - ledger: For PINGs that are too many.
  init(pings: RateBudget?, resets: RateBudget?, ledger: ConnectionLedger) {
    self.pings = pings
    self.resets = resets
    self.ledger = ledger
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    self.isReading = true
    let parts = self.scanner.scan(self.unwrapInboundIn(data))
    guard self.takeResets() else { return context.cutOff(by: .resets) }
    // The stack above may close the connection in the midst of this.
    for part in parts where context.channel.isActive {
      switch part {
      case .bytes(let bytes): context.fireChannelRead(self.wrapInboundOut(bytes))
      case .ping(let opaque): self.receive(ping: opaque, context: context)
      }
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    self.isReading = false
    if self.answers.readableBytes > 0 {
      context.writeAndFlush(self.wrapOutboundOut(.byteBuffer(self.answers)), promise: nil)
      self.answers = ByteBuffer()
    }
    context.fireChannelReadComplete()
  }

  func channelInactive(context: ChannelHandlerContext) {
    context.fireChannelInactive()
    guard self.isReading else { return }
    self.isReading = false
    context.fireChannelReadComplete()
  }

  private func receive(ping opaque: UInt64, context: ChannelHandlerContext) {
    if self.pings?.take(at: .now()) == true {
      HTTP2PingFrame.answer(opaque).write(to: &self.answers)
    } else {
      if self.pings != nil {
        self.ledger.record(.pings, against: context.channel.peerAddress)
      }
      context.fireChannelRead(self.wrapInboundOut(HTTP2PingFrame.request(opaque).bytes))
    }
  }

  /// - Returns: Whether all that have come could be taken of their budget.
  private func takeResets() -> Bool {
    while self.countedResets < self.scanner.resetCount {
      self.countedResets += 1
      if self.resets?.take(at: .now()) == false { return false }
    }
    return true
  }
}
