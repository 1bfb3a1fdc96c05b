package import NIOCore
import NIOHTTP2

/// Leaves out frames that waited to be written until their call was over. Stands next above HTTP/2, on
/// either side of a connection.
///
/// While more is to be written than the socket takes, HTTP/2 keeps back what it says beside the pixels: how
/// much more the peer may send of a call, for example. When the peer has said its last on that call
/// meanwhile, or has given it up, HTTP/2 takes its own frame for a mistake, and gRPC's handler closes the
/// connection for it, with everybody's calls (`docs/design/upstream.md`, 10). The frame is of no use any more, and
/// no byte of it was written: to go on is all that is to be done.
///
/// Mistakes of the peer come by here too, as the same errors. They are found while input is decoded.
package final class LateFrameGuard: ChannelInboundHandler {
  package typealias InboundIn = Any

  private let watch: DecodingWatch
  private let onLate: (any Channel) -> Void

  /// - Parameters:
  ///   - watch: Of the same connection, next below HTTP/2.
  ///   - onLate: Is called for each frame that is left out, on the connection's event loop.
  package init(_ watch: DecodingWatch, onLate: @escaping (any Channel) -> Void = { _ in }) {
    self.watch = watch
    self.onLate = onLate
  }

  /// Puts one up where no other guard stands. To be called on the connection's event loop, when gRPC's own
  /// handlers stand.
  package static func protect(_ channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    let http2 = try pipeline.handler(type: NIOHTTP2Handler.self)
    let watch = DecodingWatch()
    try pipeline.addHandler(watch, position: .before(http2))
    try pipeline.addHandler(LateFrameGuard(watch), position: .after(http2))
  }

  /// Whether an error is about a frame that came too late, at the moment at which it is told: to the
  /// connection, or to the call.
  package func isLate(_ error: any Error) -> Bool {
    guard !self.watch.isDecoding else { return false }
    return error is NIOHTTP2Errors.NoSuchStream || error is NIOHTTP2Errors.BadStreamStateTransition
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard self.isLate(error) else { return context.fireErrorCaught(error) }
    self.onLate(context.channel)
  }
}
