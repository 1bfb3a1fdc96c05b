import NIOCore

/// Closes a connection whose peer takes nothing off its socket although there is something for it
/// (``Guard/connectionStall``). Stands next to the socket, and sees what is really written.
final class ConnectionStallGuard: ChannelDuplexHandler {
  typealias InboundIn = Any
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  private var watch: StallWatch
  private var timer = LoopTimer()
  private var isWatching = false
  private var written = 0

  init(timeout: Duration) {
    self.watch = StallWatch(timeout: timeout)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    self.written += self.unwrapOutboundIn(data).readableBytes
    context.write(data, promise: promise)
    guard !self.isWatching else { return }
    self.isWatching = true
    self.watch.begin(at: .now())
    self.look(context: context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.timer.cancel()
    context.fireChannelInactive()
  }

  private func look(context: ChannelHandlerContext) {
    self.timer.start(in: self.watch.interval, on: context.eventLoop) {
      let options = context.channel.syncOptions
      let waiting = (try? options?.getOption(.bufferedWritableBytes)) ?? 0
      if waiting == 0 {
        self.isWatching = false
      } else if self.watch.isStalled(taken: self.written - waiting, at: .now()) {
        context.cutOff(by: .connectionStall)
      } else {
        self.look(context: context)
      }
    }
  }
}
