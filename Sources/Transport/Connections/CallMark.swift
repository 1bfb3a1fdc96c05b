import NIOCore
import NIOHPACK
import NIOHTTP2

/// Writes a call's number into its headers.
///
/// gRPC hands a call nothing of its channel but an address, and all peers of a Unix socket have the
/// same. Headers are the one thing that travels from the channel to the call, so they carry the
/// number; what a client sends under that name is taken out, so nobody can claim another's call or
/// connection.
final class CallMark: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload

  /// The name of the header. Nothing but this server ever sees it.
  static let name = "sidelight-connection"

  private let number: UInt64

  /// - Parameter number: The call's.
  init(_ number: UInt64) {
    self.number = number
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .headers(var headers) = self.unwrapInboundIn(data) else {
      return context.fireChannelRead(data)
    }
    headers.headers.remove(name: Self.name)
    headers.headers.add(name: Self.name, value: String(self.number))
    context.fireChannelRead(self.wrapInboundOut(.headers(headers)))
  }
}
