import NIOCore
import SidelightWire

/// A writer of the frames of a server: messages of the call, its status, the close frame, and
/// answers to pings. It must be used on the channel's event loop.
final class WebSocketWriter {
  private let store: OutboundMessageStore
  private let limiter: CallLimiter
  /// The answer to the last ping, while the connection isn't writable.
  private var waitingPong: ByteBuffer?

  /// - Parameter store: The large messages of all calls, which are written in place of their
  ///   handles.
  init(_ store: OutboundMessageStore, _ limiter: CallLimiter) {
    self.store = store
    self.limiter = limiter
  }

  /// Answers a ping. While the connection isn't writable, only the last ping is kept for an answer.
  func answer(_ content: ByteBuffer, context: ChannelHandlerContext) {
    guard context.channel.isWritable else { return self.waitingPong = content }
    var pong = ByteBuffer()
    WebSocketFrameHead.write(.pong, length: content.readableBytes, to: &pong)
    pong.writeImmutableBuffer(content)
    context.writeAndFlush(Self.wrap(pong), promise: nil)
  }

  /// Answers the last ping that came while the connection wasn't writable, if any.
  func answerWaitingPing(context: ChannelHandlerContext) {
    if let content = self.waitingPong.take() { self.answer(content, context: context) }
  }

  /// Writes a message of the call as one binary frame. Closes the connection if the message is a
  /// handle that the store does not have.
  ///
  /// - Parameter bytes: The message, or its handle.
  func write(
    _ bytes: ByteBuffer, context: ChannelHandlerContext, promise: EventLoopPromise<Void>?
  ) {
    do {
      let message = try self.store.message(for: bytes)
      let pieces = message ?? [bytes]
      var head = ByteBuffer()
      WebSocketFrameHead.write(
        .binary, length: pieces.reduce(0) { $0 + $1.readableBytes }, to: &head)
      context.write(Self.wrap(head), promise: nil)
      for (index, piece) in pieces.enumerated() {
        let promise = index == pieces.count - 1 ? promise : nil
        self.limiter.write(piece, promise: promise, on: context.eventLoop) { part, _, promise in
          context.write(Self.wrap(part), promise: promise)
        }
      }
      self.limiter.checkProgress(on: context.eventLoop) {
        context.abortConnection(by: .callStall)
      }
    } catch {
      // Closing the call is better than sending a wrong message.
      promise?.fail(error)
      context.close(promise: nil)
    }
  }

  /// Writes a text message, without flushing.
  func writeText(_ text: ByteBuffer, context: ChannelHandlerContext) {
    var head = ByteBuffer()
    WebSocketFrameHead.write(.text, length: text.readableBytes, to: &head)
    context.write(Self.wrap(head), promise: nil)
    context.write(Self.wrap(text), promise: nil)
  }

  /// Writes the close frame, and flushes.
  func writeClose(
    _ code: WebSocketCloseCode, _ reason: String, context: ChannelHandlerContext
  ) {
    context.writeAndFlush(Self.wrap(WebSocketFrameHead.close(code, reason)), promise: nil)
  }

  private static func wrap(_ bytes: ByteBuffer) -> NIOAny { NIOAny(IOData.byteBuffer(bytes)) }
}
