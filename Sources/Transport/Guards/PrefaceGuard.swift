import NIOCore

/// Closes a connection that has not begun to speak HTTP/2 in time (``Guard/preface``). Stands after TLS,
/// and sees the first bytes when the handshake is over.
final class PrefaceGuard: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  /// `PRI * HTTP/2.0`, two line ends, `SM`, two line ends; then a frame, whose head has nine bytes.
  private static let minimalBytes = 24 + 9

  private let timeout: Duration
  private var timer = LoopTimer()
  private var received = 0

  init(timeout: Duration) {
    self.timeout = timeout
  }

  func channelActive(context: ChannelHandlerContext) {
    self.timer.start(in: self.timeout, on: context.eventLoop) {
      context.cutOff(by: .preface)
    }
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    self.received += self.unwrapInboundIn(data).readableBytes
    context.fireChannelRead(data)
    guard self.received >= Self.minimalBytes else { return }
    self.timer.cancel()
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.timer.cancel()
  }
}
