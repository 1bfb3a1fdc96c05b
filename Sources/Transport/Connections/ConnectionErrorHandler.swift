import NIOCore
import NIOHTTP2

/// Tells of errors that end a connection. Stands next above HTTP/2, where all of them come by: those of
/// the socket, of TLS and of HTTP/2.
///
/// Of HTTP/2's errors not all are an end: those of a single call come by too. One is an end if the
/// connection is closed for it, by a handler above, and so are those that follow.
final class ConnectionErrorHandler: ChannelDuplexHandler {
  typealias InboundIn = Any
  typealias OutboundIn = Any

  private let end: ConnectionEndHandler
  /// What the handlers above are told of, at this moment.
  private var error: (any Error)?
  private var isClosing = false

  /// - Parameter end: Next to the same connection's socket.
  init(_ end: ConnectionEndHandler) {
    self.end = end
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if self.isClosing || ConnectionEnd(error) != .http2 { self.end.note(error) }
    self.error = error
    context.fireErrorCaught(error)
    self.error = nil
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    self.isClosing = true
    if let error { self.end.note(error) }
    context.close(mode: mode, promise: promise)
  }
}
