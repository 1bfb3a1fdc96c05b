import NIOCore

/// Asks a peer that has said nothing for a while for a sign of life, with an HTTP/2 PING, and closes
/// the connection when none comes (``Guard/keepalive``). The transport would begin a graceful close,
/// and wait for ever for the peer to take part.
///
/// Whatever comes is a sign of life, so the answer to the PING itself is left to pass: the stack above
/// does not mind answers that it did not ask for.
final class KeepaliveGuard: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = IOData

  private let interval: Duration
  private let timeout: Duration
  private var timer = LoopTimer()
  private var lastRead = NIODeadline.now()
  private var isAsking = false

  /// - Parameters:
  ///   - interval: The silence after which the peer is asked.
  ///   - timeout: The time it then has.
  init(interval: Duration, timeout: Duration) {
    self.interval = interval
    self.timeout = timeout
  }

  func channelActive(context: ChannelHandlerContext) {
    self.lastRead = .now()
    self.wait(self.interval, context: context)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    self.lastRead = .now()
    if self.isAsking {
      self.isAsking = false
      self.wait(self.interval, context: context)
    }
    context.fireChannelRead(data)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.timer.cancel()
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.timer.cancel()
    context.fireChannelInactive()
  }

  /// One timer that looks at the clock costs less than one that is set anew by each read.
  private func wait(_ duration: Duration, context: ChannelHandlerContext) {
    self.timer.start(in: duration, on: context.eventLoop) {
      let silence = Duration(NIODeadline.now() - self.lastRead)
      if silence < self.interval {
        self.wait(self.interval - silence, context: context)
      } else {
        self.ask(context: context)
      }
    }
  }

  private func ask(context: ChannelHandlerContext) {
    self.isAsking = true
    context.writeAndFlush(
      self.wrapOutboundOut(.byteBuffer(HTTP2PingFrame.request(0).bytes)), promise: nil)
    self.timer.start(in: self.timeout, on: context.eventLoop) {
      context.cutOff(by: .keepalive)
    }
  }
}
