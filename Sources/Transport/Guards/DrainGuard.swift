import NIOCore

/// Cuts a connection off some time after the server has begun to shut down (``Guard/drain``): the
/// transport waits for streams to end and for a PING to be answered, which a dead peer never does.
final class DrainGuard: ChannelInboundHandler {
  typealias InboundIn = Any

  private let timeout: Duration
  private var timer = LoopTimer()

  init(timeout: Duration) {
    self.timeout = timeout
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent {
      self.timer.start(in: self.timeout, on: context.eventLoop) {
        context.cutOff(by: .drain)
      }
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.timer.cancel()
    context.fireChannelInactive()
  }
}
