import GRPCCore
import NIOCore
import SidelightWire

/// The handler between a WebSocket's socket and its call: a binary message is a message of the
/// call, the text message `end` ends the client's side, and the status becomes a text message and a
/// close frame (`docs/reference/websocket.md`).
///
/// It applies the limits of a ``CallLimiter``. While messages wait it stops reading, and the
/// kernel's buffer fills.
final class WebSocketCallHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = RPCRequestPart<CallBytes>
  typealias OutboundIn = RPCResponsePart<CallBytes>
  typealias OutboundOut = IOData

  private enum Phase {
    /// The call has not begun.
    case waiting
    case open
    /// The close frame is written; input is discarded until the client has closed its side.
    case closing
  }

  private let call: WebSocketCall
  private let limiter: CallLimiter
  private var phase = Phase.waiting
  private var reader: WebSocketReader
  /// Whether the client's frames can be read; after a violation they cannot.
  private var isReadable = true
  /// Received bytes that were not delivered.
  private var waiting: CircularBuffer<ByteBuffer> = []
  /// Whether the client's messages have ended.
  private var isInputOver = false
  private var pings: RateBudget?
  private let writer: WebSocketWriter
  /// The bytes that are still discarded after the close frame.
  private var discardLimit = 0

  /// - Parameter pings: The pings that the client may send; `nil` disables the limit.
  init(_ call: WebSocketCall, _ limiter: CallLimiter, pings: RateBudget?) {
    self.call = call
    self.limiter = limiter
    self.reader = WebSocketReader(limits: .init(maxMessageBytes: limiter.maxBytes))
    self.pings = pings
    self.writer = WebSocketWriter(call.store, limiter)
  }

  /// Begins the call, when the handler above is in place.
  func begin(context: ChannelHandlerContext) {
    guard self.phase == .waiting, context.channel.isActive else { return }
    self.phase = .open
    context.fireChannelRead(self.wrapInboundOut(.metadata(self.call.metadata)))
    if let timeout = self.call.timeout {
      self.limiter.startDeadline(in: timeout, on: context.eventLoop) {
        self.refuse($0, context: context)
      }
    }
    self.deliver(context: context)
    context.fireChannelReadComplete()
    self.requestMore(context: context)
  }

  // MARK: Inbound

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = self.unwrapInboundIn(data)
    self.waiting.append(bytes)
    switch self.phase {
    case .waiting: break
    case .open: self.deliver(context: context)
    case .closing: self.discard(context: context)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if self.waiting.isEmpty { self.limiter.renewBatch() }
    context.fireChannelReadComplete()
    // The handler above stops reading when its input is over; a close frame may still come.
    if self.isInputOver || self.phase == .closing { self.requestMore(context: context) }
  }

  func read(context: ChannelHandlerContext) {
    if self.phase != .waiting { self.requestMore(context: context) }
  }

  private func requestMore(context: ChannelHandlerContext) {
    guard !self.waiting.isEmpty, self.limiter.deliversBatches else { return context.read() }
    self.limiter.awaitBatch(on: context.eventLoop) {
      guard context.channel.isActive else { return }
      if self.phase == .closing {
        self.discard(context: context)
        return context.read()
      }
      self.deliver(context: context)
      self.channelReadComplete(context: context)
      context.channel.read()
    }
  }

  /// Delivers as much as the budget allows. A frame that has begun is delivered to its end.
  private func deliver(context: ChannelHandlerContext) {
    while self.phase == .open, self.limiter.batchBudget > 0 || self.reader.isWithinFrame,
      var bytes = self.waiting.popFirst()
    {
      do throws(WebSocketViolation) {
        while self.phase == .open, self.limiter.batchBudget > 0 || self.reader.isWithinFrame,
          let event = try self.reader.next(from: &bytes)
        {
          try self.handle(event, context: context)
        }
      } catch {
        return self.fail(error, context: context)
      }
      if bytes.readableBytes > 0 { self.waiting.prepend(bytes) }
    }
    if self.phase == .closing { self.discard(context: context) }
  }

  private func handle(
    _ event: WebSocketEvent, context: ChannelHandlerContext
  ) throws(WebSocketViolation) {
    self.limiter.spend(1)
    switch event {
    case .frame(let messageBytes):
      if let refusal = self.limiter.reserve(messageBytes) {
        self.refuse(refusal, context: context)
      }
    case .message(let bytes):
      self.limiter.spend(bytes.readableBytes / CallLimiter.bytesPerWeight)
      self.limiter.releaseMessage()
      if let refusal = self.limiter.refusal(of: bytes) {
        return self.refuse(refusal, context: context)
      }
      context.fireChannelRead(self.wrapInboundOut(.message(CallBytes(bytes))))
    case .end:
      self.endInput(context: context)
    case .ping(let content):
      guard self.pings?.take(at: .now()) ?? true else {
        self.limiter.record(.pings)
        throw WebSocketViolation(.policyViolation, "The client sends too many pings.")
      }
      self.writer.answer(content, context: context)
    case .pong:
      break
    case .close(let code):
      self.close(code ?? .normal, "", context: context)
      context.fireErrorCaught(RPCError.abandoned)
      self.finishClosing(context: context)
    }
  }

  private func endInput(context: ChannelHandlerContext) {
    guard !self.isInputOver else { return }
    self.isInputOver = true
    context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
  }

  // MARK: Outbound

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard self.phase == .open else {
      promise?.fail(ChannelError.outputClosed)
      return
    }
    switch self.unwrapOutboundIn(data) {
    case .metadata:
      promise?.succeed()
    case .message(let bytes):
      self.writer.write(bytes.buffer, context: context, promise: promise)
    case .status(let status, let metadata):
      self.finish(
        CallEnd(code: status.code.rawValue, message: status.message, metadata), context: context)
      promise?.succeed()
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable, self.phase == .open {
      self.writer.answerWaitingPing(context: context)
    }
    context.fireChannelWritabilityChanged()
  }

  // MARK: The end

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard let refusal = event as? CallRefusal else {
      return context.fireUserInboundEventTriggered(event)
    }
    self.refuse(refusal, context: context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.fireErrorCaught(error)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.limiter.end()
    self.waiting.removeAll()
    if self.phase != .closing {
      self.phase = .closing
      self.call.cancellation.cancel()
      context.fireErrorCaught(RPCError.abandoned)
    }
    context.fireChannelInactive()
  }

  /// Ends the call with a status, and cancels its handler.
  private func refuse(_ refusal: CallRefusal, context: ChannelHandlerContext) {
    guard self.phase == .open else { return }
    if let guardName = refusal.guardName { self.limiter.record(guardName) }
    let wasInputOver = self.isInputOver
    self.finish(CallEnd(refusal.status), context: context)
    self.call.cancellation.cancel()
    // The handler may wait for messages, which no longer come.
    if !wasInputOver { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
  }

  /// Closes the WebSocket for a violation of its client.
  private func fail(_ violation: WebSocketViolation, context: ChannelHandlerContext) {
    guard self.phase == .open else { return }
    if violation.code == .messageTooBig { self.limiter.record(.messageSize) }
    self.isReadable = false
    self.waiting.removeAll()
    self.close(violation.code, violation.reason, context: context)
    // The client's own close frame could not be read.
    context.close(mode: .output, promise: nil)
    context.fireErrorCaught(RPCError(code: .cancelled, message: violation.reason))
  }

  /// Writes the status and the close frame.
  private func finish(_ end: CallEnd, context: ChannelHandlerContext) {
    if end.code != 0, let text = end.text { self.writer.writeText(text, context: context) }
    self.isInputOver = true
    self.close(
      .status(end.code), end.message, cancelsCall: false, context: context)
  }

  /// Writes the close frame, and closes the connection when the client has had time to answer.
  private func close(
    _ code: WebSocketCloseCode, _ reason: String, cancelsCall: Bool = true,
    context: ChannelHandlerContext
  ) {
    guard self.phase == .open else { return }
    self.phase = .closing
    self.limiter.stopDeadline()
    self.limiter.releaseMessage()
    // The bytes that follow are not in the budget of unfinished messages.
    self.reader.discardMessages()
    // Closing while the client sends would reset the connection, and the client lose the status.
    self.discardLimit = 2 * self.limiter.maxMessageBytes
    self.writer.writeClose(code, reason, context: context)
    if cancelsCall { self.call.cancellation.cancel() }
    self.limiter.awaitEnd(on: context.eventLoop) { context.close(promise: nil) }
    self.requestMore(context: context)
  }

  /// Discards the client's bytes after the close frame, up to the client's own close frame.
  private func discard(context: ChannelHandlerContext) {
    while var bytes = self.waiting.popFirst() {
      self.discardLimit -= bytes.readableBytes
      guard self.discardLimit >= 0 else { return context.close(promise: nil) }
      while self.isReadable {
        do throws(WebSocketViolation) {
          guard let event = try self.reader.next(from: &bytes) else { break }
          if case .close = event { return self.finishClosing(context: context) }
        } catch {
          self.isReadable = false
        }
      }
    }
  }

  /// Closes the connection when everything is written.
  private func finishClosing(context: ChannelHandlerContext) {
    self.waiting.removeAll()
    // The socket is closed after the bytes before it.
    context.writeAndFlush(self.wrapOutboundOut(.byteBuffer(ByteBuffer()))).assumeIsolated()
      .whenComplete { _ in context.close(promise: nil) }
  }
}
