package import NIOCore
package import NIOHTTP2

/// Ignores the errors of frames that waited to be written until their call was over. It is next
/// above HTTP/2, on either side of a connection.
///
/// While more is to be written than the socket takes, HTTP/2 holds back control frames, for example
/// the window updates of a call. If the peer has ended its side of that call meanwhile, or has
/// abandoned it, HTTP/2 reports its own frame as an error, and gRPC's handler closes the connection
/// for it, with every call on it (`docs/design/upstream.md`, 10). The frame has become useless
/// without being written, so the error can be ignored.
///
/// Errors of the peer pass here too, with the same types. They are found while input is decoded.
package final class LateFrameGuard: ChannelInboundHandler {
  package typealias InboundIn = Any

  private let decoding: DecodingObserver
  private let onLate: (any Channel) -> Void

  /// - Parameters:
  ///   - decoding: The observer of the same connection, next below HTTP/2.
  ///   - onLate: Called for every ignored error, on the connection's event loop.
  package init(_ decoding: DecodingObserver, onLate: @escaping (any Channel) -> Void = { _ in }) {
    self.decoding = decoding
    self.onLate = onLate
  }

  /// Adds a guard to a client's connection. It must be called on the connection's event loop, when
  /// gRPC's own handlers are in place.
  package static func protect(_ channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    let http2 = try pipeline.handler(type: NIOHTTP2Handler.self)
    let decoding = DecodingObserver()
    try pipeline.addHandler(decoding, position: .before(http2))
    try pipeline.addHandler(LateFrameGuard(decoding), position: .after(http2))
  }

  /// Whether an error is about a frame that was written too late. It must be called while the error
  /// is reported, to the connection or to the call.
  package func isLate(_ error: any Error) -> Bool {
    guard !self.decoding.isDecoding else { return false }
    return error is NIOHTTP2Errors.NoSuchStream || error is NIOHTTP2Errors.BadStreamStateTransition
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard self.isLate(error) else { return context.fireErrorCaught(error) }
    self.onLate(context.channel)
  }
}

/// Observes whether HTTP/2 decodes input at this moment. Errors that it then reports are the
/// peer's; at any other time they are about frames to be written. It is next below HTTP/2.
///
/// It also completes a read before the next one begins. HTTP/2 copies the bytes that it reads to a
/// buffer, and passes on slices of it, which calls get when the read is complete. A buffer with
/// slices in use is copied as a whole when HTTP/2 writes to it (`docs/design/upstream.md`, 3): as
/// many bytes again as are read, if several reads follow each other.
package final class DecodingObserver: ChannelInboundHandler {
  package typealias InboundIn = ByteBuffer

  /// Whether HTTP/2 decodes input.
  package private(set) var isDecoding = false
  /// Whether HTTP/2 has read, and the read is not complete.
  private var isReading = false

  package init() {}

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if self.isReading { context.fireChannelReadComplete() }
    self.isReading = true
    self.setDecoding(true) { context.fireChannelRead(data) }
  }

  package func channelReadComplete(context: ChannelHandlerContext) {
    self.isReading = false
    context.fireChannelReadComplete()
  }

  package func channelWritabilityChanged(context: ChannelHandlerContext) {
    // This may happen during decoding, and writes the frames that waited.
    self.setDecoding(false) { context.fireChannelWritabilityChanged() }
  }

  private func setDecoding(_ isDecoding: Bool, during body: () -> Void) {
    let before = self.isDecoding
    self.isDecoding = isDecoding
    defer { self.isDecoding = before }
    body()
  }
}

/// Keeps WINDOW_UPDATE frames from gRPC. It is above HTTP/2 on a connection.
///
/// HTTP/2 has handled them. gRPC would only discard them, in a task on another thread, which every
/// frame wakes.
package final class WindowUpdateFilter: ChannelInboundHandler {
  package typealias InboundIn = HTTP2Frame
  package typealias InboundOut = HTTP2Frame

  package init() {}

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .windowUpdate = self.unwrapInboundIn(data).payload { return }
    context.fireChannelRead(data)
  }
}
