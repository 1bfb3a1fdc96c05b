import NIOCore

/// Answers PINGs before the stack above sees them (``Guard/pings``). Its limit of 200 in 30 seconds
/// cannot be set from outside, and grpc-go sends one for each burst of data that it receives. Those
/// beyond a budget of ours are left to it.
final class PingGuard: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = IOData

  private var scanner = HTTP2PingScanner()
  private var budget: PingBudget
  private let ledger: GuardLedger
  private var hasAnswered = false

  init(budget: PingBudget, ledger: GuardLedger) {
    self.budget = budget
    self.ledger = ledger
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    for part in self.scanner.scan(self.unwrapInboundIn(data)) {
      switch part {
      case .bytes(let bytes): context.fireChannelRead(self.wrapInboundOut(bytes))
      case .ping(let opaque) where self.budget.take(at: .now()):
        self.hasAnswered = true
        context.write(
          self.wrapOutboundOut(.byteBuffer(HTTP2PingFrame.answer(opaque).bytes)), promise: nil)
      case .ping(let opaque):
        self.ledger.record(.pings, against: context.channel.peerAddress)
        context.fireChannelRead(self.wrapInboundOut(HTTP2PingFrame.request(opaque).bytes))
      }
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if self.hasAnswered {
      self.hasAnswered = false
      context.flush()
    }
    context.fireChannelReadComplete()
  }
}
