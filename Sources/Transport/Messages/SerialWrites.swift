package import NIOCore
package import NIOHTTP2

/// Writes to a call in order, for a handler that makes several writes of one.
///
/// A write may come in the midst of another: when a part of it fills the stream, gRPC's handler hears of that at
/// once, writes what it has, and flushes. Here that waits for its turn.
package final class SerialWrites {
  private var waiting = CircularBuffer<
    (payload: HTTP2Frame.FramePayload, promise: EventLoopPromise<Void>?)
  >()
  private var isWriting = false
  private var wantsFlush = false

  package init() {}

  /// Puts a write behind those that wait.
  package func append(_ payload: HTTP2Frame.FramePayload, promise: EventLoopPromise<Void>?) {
    self.waiting.append((payload, promise))
  }

  /// Flushes when all that waits is written.
  package func appendFlush() {
    self.wantsFlush = true
  }

  /// Writes what waits, whoever calls in between.
  package func run(context: ChannelHandlerContext) {
    guard !self.isWriting else { return }
    self.isWriting = true
    defer { self.isWriting = false }
    while !self.waiting.isEmpty || self.wantsFlush {
      if let (payload, promise) = self.waiting.popFirst() {
        context.write(NIOAny(payload), promise: promise)
      } else {
        self.wantsFlush = false
        context.flush()
      }
    }
  }
}
