import NIOCore
import NIOHTTP2
import SidelightWire

/// The handler next to HTTP/2 on a call: writes everything in order, using the stream's single
/// queue.
///
/// A write may come during another one: when a part of a message fills the stream, gRPC's handler
/// is notified at once, writes its next bytes, and flushes. Such writes wait in the queue.
///
/// On a server it is also the guard that resets a call whose peer stops reading
/// (``Guard/callStall``), and a call that has its status but whose client does not close its side
/// (``Guard/linger``). Being next to HTTP/2, it also sees the writes of other guards.
final class CallWriter: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload
  typealias OutboundIn = OutboundCallPart
  typealias OutboundOut = HTTP2Frame.FramePayload

  /// The limits on a server's peer that stops reading.
  struct Limits {
    /// The time that the peer may take, and the active guards.
    var configuration: GuardConfiguration
    /// The peer's address.
    var address: String
    /// Counts the calls that are reset.
    var counters: ConnectionCounters
    /// The connection's guard, which is notified when the whole response has been written.
    var frames: HTTP2FrameGuard?

    fileprivate func isActive(_ guardName: Guard) -> Bool {
      self.configuration.active.contains(guardName)
    }
  }

  /// The maximum bytes per write. Writing in parts distinguishes a slow peer from one that has
  /// stopped reading.
  private static let maxPartBytes = 1 << 20

  private let limits: Limits?
  /// Whether the guard resets a call whose peer stops reading.
  private let detectsStalls: Bool
  private var waiting = CircularBuffer<
    (payload: HTTP2Frame.FramePayload, promise: EventLoopPromise<Void>?)
  >()
  private var isWriting = false
  private var needsFlush = false

  private var linger = EventLoopTimer()
  private var stall = EventLoopTimer()
  private var stallDetector: StallDetector
  private var isCheckingProgress = false
  private var written = 0
  private var taken = 0
  /// The stream, once its whole response has been written.
  private var finishedStream: UInt32?

  /// - Parameter limits: `nil` disables the guards.
  init(_ limits: Limits? = nil) {
    self.limits = limits
    self.detectsStalls = limits?.isActive(.callStall) == true
    self.stallDetector = StallDetector(timeout: limits?.configuration.writeStallTimeout ?? .zero)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .data(let payload) = self.unwrapInboundIn(data), payload.endStream {
      self.linger.cancel()
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch self.unwrapOutboundIn(data) {
    case .other(let payload):
      var promise = promise
      if case .headers(let headers) = payload, headers.endStream, let limits {
        if limits.isActive(.linger) { self.awaitEnd(limits, context: context) }
        let written = promise ?? context.eventLoop.makePromise()
        self.reportResponse(when: written.futureResult, limits, context: context)
        promise = written
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
    self.linger.cancel()
    self.stall.cancel()
    if let finishedStream { self.limits?.frames?.streamIsClosed(finishedStream) }
    context.fireChannelInactive()
  }

  // MARK: The queue

  /// Appends bytes of a message. If the peer is watched, splits them into parts and records when
  /// the peer has taken a part.
  private func append(
    _ bytes: ByteBuffer, endStream: Bool, promise: EventLoopPromise<Void>?,
    eventLoop: any EventLoop
  ) {
    guard self.detectsStalls else {
      return self.waiting.append(
        (.data(.init(data: .byteBuffer(bytes), endStream: endStream)), promise))
    }
    var rest = bytes
    if self.written == self.taken { self.stallDetector.begin(at: .now()) }
    self.written += bytes.readableBytes
    repeat {
      let count = min(rest.readableBytes, Self.maxPartBytes)
      let part = rest.readSlice(length: count) ?? ByteBuffer()
      let isLast = rest.readableBytes == 0
      let done = (isLast ? promise : nil) ?? eventLoop.makePromise()
      done.futureResult.assumeIsolated().whenComplete { _ in self.taken += count }
      self.waiting.append(
        (.data(.init(data: .byteBuffer(part), endStream: isLast && endStream)), done))
    } while rest.readableBytes > 0
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
    if self.taken != self.written, !self.isCheckingProgress, let limits {
      self.isCheckingProgress = true
      self.checkProgress(limits, context: context)
    }
  }

  // MARK: Stalled peers

  private func checkProgress(_ limits: Limits, context: ChannelHandlerContext) {
    self.stall.start(in: self.stallDetector.interval, on: context.eventLoop) {
      if self.taken == self.written {
        self.isCheckingProgress = false
      } else if self.stallDetector.isStalled(taken: self.taken, at: .now()) {
        limits.counters.record(.callStall, against: limits.address)
        context.close(promise: nil)
      } else {
        self.checkProgress(limits, context: context)
      }
    }
  }

  /// Notifies the connection's guard when the status has been written, unless the stream is closed
  /// by then.
  private func reportResponse(
    when written: EventLoopFuture<Void>, _ limits: Limits, context: ChannelHandlerContext
  ) {
    guard let frames = limits.frames,
      let stream = try? context.channel.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID)
    else { return }
    let channel = context.channel
    written.assumeIsolated().whenSuccess {
      guard channel.isActive else { return }
      let number = UInt32(truncatingIfNeeded: Int(stream))
      self.finishedStream = number
      frames.responseIsWritten(on: number)
    }
  }

  /// Closes the call when the client has had time to close its side. A reset at once would reach
  /// the client before it has read the status, and replace it.
  private func awaitEnd(_ limits: Limits, context: ChannelHandlerContext) {
    self.linger.start(in: limits.configuration.lingerTimeout, on: context.eventLoop) {
      // The other guard handles a peer that still takes bytes from before the status.
      guard self.taken == self.written else { return self.awaitEnd(limits, context: context) }
      limits.counters.record(.linger, against: limits.address)
      context.close(promise: nil)
    }
  }
}
