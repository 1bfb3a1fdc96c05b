import NIOCore

/// Closes a connection at once if too many stand (``Guard/connectionCap``).
///
/// It closes when the channel becomes active, not before: failing a channel's initializer would end
/// the listener with it.
final class ConnectionCap: ChannelInboundHandler {
  typealias InboundIn = Any

  private let counts: ConnectionCounts
  /// Whose connection is counted; `nil` when none is.
  private var counted: String?

  init(counts: ConnectionCounts) {
    self.counts = counts
  }

  func channelActive(context: ChannelHandlerContext) {
    let address = context.channel.remoteAddress?.ipAddress ?? "unix"
    if self.counts.enter(address) {
      self.counted = address
      context.fireChannelActive()
    } else {
      context.fireChannelActive()
      context.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    if let counted = self.counted.take() { self.counts.leave(counted) }
    context.fireChannelInactive()
  }
}
