import NIOCore
import NIOHTTP2
import SidelightWire

/// The handler next to HTTP/2 on a call: writes everything in order, using the stream's single
/// queue.
///
/// A write may come during another one: when a part of a message fills the stream, gRPC's handler
/// is notified at once, writes its next bytes, and flushes. Such writes wait in the queue.
///
/// On a server it also resets a call whose peer stops reading, and a call that has its status but
/// whose client does not close its side. Being next to HTTP/2, it also sees the writes of
/// ``CallGuard``.
final class CallWriter: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload
  typealias OutboundIn = OutboundCallPart
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let limiter: CallLimiter?
  private let frames: HTTP2FrameGuard?
  private var waiting = CircularBuffer<
    (payload: HTTP2Frame.FramePayload, promise: EventLoopPromise<Void>?)
  >()
  private var isWriting = false
  private var needsFlush = false
  /// The stream, once its whole response has been written.
  private var finishedStream: UInt32?

  /// - Parameters:
  ///   - limiter: The limits of a server's call; `nil` disables them.
  ///   - frames: The connection's guard, which is notified when the whole response has been
  ///     written.
  init(_ limiter: CallLimiter? = nil, frames: HTTP2FrameGuard? = nil) {
    self.limiter = limiter
    self.frames = frames
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .data(let payload) = self.unwrapInboundIn(data), payload.endStream {
      self.limiter?.peerHasEnded()
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch self.unwrapOutboundIn(data) {
    case .other(let payload):
      var promise = promise
      if case .headers(let headers) = payload, headers.endStream {
        self.limiter?.awaitEnd(on: context.eventLoop) { context.close(promise: nil) }
        if let frames {
          let written = promise ?? context.eventLoop.makePromise()
          self.reportResponse(to: frames, when: written.futureResult, context: context)
          promise = written
        }
      }
      self.waiting.append((payload, promise))
    case .messages(let pieces, let endStream):
      for (index, piece) in pieces.enumerated() {
        let isLast = index == pieces.count - 1
        self.append(
          piece, endStream: isLast && endStream, promise: isLast ? promise : nil,
          eventLoop: context.eventLoop)
      }
    }
    self.writeWaiting(context: context)
  }

  func flush(context: ChannelHandlerContext) {
    self.needsFlush = true
    self.writeWaiting(context: context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.limiter?.end()
    if let finishedStream { self.frames?.streamIsClosed(finishedStream) }
    context.fireChannelInactive()
  }

  // MARK: The queue

  /// Appends bytes of a message, in parts if the call has limits.
  private func append(
    _ bytes: ByteBuffer, endStream: Bool, promise: EventLoopPromise<Void>?,
    eventLoop: any EventLoop
  ) {
    guard let limiter else {
      return self.waiting.append(
        (.data(.init(data: .byteBuffer(bytes), endStream: endStream)), promise))
    }
    limiter.write(bytes, promise: promise, on: eventLoop) { part, isLast, promise in
      self.waiting.append(
        (.data(.init(data: .byteBuffer(part), endStream: isLast && endStream)), promise))
    }
  }

  /// Writes everything that waits, and then flushes. A nested call returns at once.
  private func writeWaiting(context: ChannelHandlerContext) {
    if !self.isWriting {
      self.isWriting = true
      while !self.waiting.isEmpty || self.needsFlush {
        if let (payload, promise) = self.waiting.popFirst() {
          context.write(self.wrapOutboundOut(payload), promise: promise)
        } else {
          self.needsFlush = false
          context.flush()
        }
      }
      self.isWriting = false
    }
    self.limiter?.checkProgress(on: context.eventLoop) {
      self.limiter?.record(.callStall)
      context.close(promise: nil)
    }
  }

  /// Notifies the connection's guard when the status has been written, unless the stream is closed
  /// by then.
  private func reportResponse(
    to frames: HTTP2FrameGuard, when written: EventLoopFuture<Void>,
    context: ChannelHandlerContext
  ) {
    let channel = context.channel
    guard let stream = try? channel.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID)
    else { return }
    written.assumeIsolated().whenSuccess {
      guard channel.isActive else { return }
      let number = UInt32(truncatingIfNeeded: Int(stream))
      self.finishedStream = number
      frames.responseIsWritten(on: number)
    }
  }
}
