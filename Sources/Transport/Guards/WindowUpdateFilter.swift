package import NIOCore
package import NIOHTTP2

/// Stands above HTTP/2 on a connection, and keeps WINDOW_UPDATE from gRPC.
///
/// HTTP/2 has done all that there is to do about it. gRPC would only throw it away, in a task on another
/// thread, which is woken for that with each frame.
package final class WindowUpdateFilter: ChannelInboundHandler {
  package typealias InboundIn = HTTP2Frame
  package typealias InboundOut = HTTP2Frame

  package init() {}

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .windowUpdate = self.unwrapInboundIn(data).payload { return }
    context.fireChannelRead(data)
  }
}
