import NIOCore
import NIOHTTP2

/// Leaves out frames that waited to be written until their call was over (``Guard/lateFrames``). Stands
/// next above HTTP/2.
///
/// While more is to be written than the socket takes, HTTP/2 keeps back what it says beside the pixels: how
/// much more a client may send of a call, for example. When the client has said its last on that call
/// meanwhile, or has given it up, it takes its own frame for a mistake, and gRPC's handler closes the
/// connection for it, with everybody's calls. The frame is of no use any more, and no byte of it was
/// written: to go on is all that is to be done.
///
/// Mistakes of the client come by here too, as the same errors. They are found while input is read.
final class LateFrameGuard: ChannelInboundHandler {
  typealias InboundIn = Any

  private let frames: FrameGuard
  private let ledger: ConnectionLedger

  /// - Parameters:
  ///   - frames: Of the same connection, next below HTTP/2.
  ///   - ledger: For frames that are left out.
  init(_ frames: FrameGuard, ledger: ConnectionLedger) {
    self.frames = frames
    self.ledger = ledger
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard !self.frames.isDecoding, Self.isLate(error) else {
      return context.fireErrorCaught(error)
    }
    self.ledger.record(.lateFrames, against: context.channel.peerAddress)
  }

  private static func isLate(_ error: any Error) -> Bool {
    error is NIOHTTP2Errors.NoSuchStream || error is NIOHTTP2Errors.BadStreamStateTransition
  }
}
