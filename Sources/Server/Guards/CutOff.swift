import NIOCore

/// Asks for a connection to be closed without any manners: TLS would wait for the peer to say goodbye.
struct CutOff {}

/// Closes the connection when a handler above asks for it. Stands next to the socket.
final class CutOffHandler: ChannelOutboundHandler {
  typealias OutboundIn = Never

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard event is CutOff else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    context.close(promise: promise)
  }
}

extension ChannelHandlerContext {
  /// Closes the connection without manners.
  func cutOff() {
    self.triggerUserOutboundEvent(CutOff(), promise: nil)
  }
}
