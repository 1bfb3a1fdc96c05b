import Foundation
import GRPCCore
import GRPCProtobuf
import NIOCore
import NIOHPACK
import NIOHTTP2
import SidelightWire

/// The handler between HTTP/2 and gRPC on a server's call: refuses messages that are too long, too
/// complex or truncated, and ends the call at its deadline.
///
/// It writes the status of a call that it refuses, or that another handler refuses by sending a
/// ``CallRefusal`` event. The call's handler is cancelled, and everything that the handler still
/// writes is discarded.
final class CallGuard: ChannelDuplexHandler {
  typealias InboundIn = InboundCallPart
  typealias InboundOut = InboundCallPart
  typealias OutboundIn = OutboundCallPart
  typealias OutboundOut = OutboundCallPart

  private let limiter: CallLimiter
  private let lateFrames: LateFrameGuard?
  private let cancellation: CallCancellation
  private var scanner: MessageScanner?
  private var hasResponseHeaders = false
  /// Whether the handler knows that the client has closed its side.
  private var isInputOver = false
  /// Whether the status was written.
  private var isOver = false
  /// The bytes of a refused call that are still read and discarded; `nil` if the call is not
  /// refused.
  private var discardLimit: Int?

  /// - Parameters:
  ///   - lateFrames: The guard of the same connection, if it has one.
  ///   - cancellation: Cancels the call's handler.
  init(_ limiter: CallLimiter, lateFrames: LateFrameGuard?, cancellation: CallCancellation) {
    self.limiter = limiter
    self.lateFrames = lateFrames
    self.cancellation = cancellation
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch self.unwrapInboundIn(data) {
    case .other(.headers(let headers)) where self.scanner == nil:
      self.begin(headers, context: context)
    case .messages(let messages):
      self.receive(messages, data, context: context)
    case .other:
      context.fireChannelRead(data)
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard self.discardLimit == nil else {
      promise?.fail(ChannelError.outputClosed)
      return
    }
    if case .other(.headers(let headers)) = self.unwrapOutboundIn(data) {
      self.hasResponseHeaders = true
      if headers.endStream { self.end() }
    }
    context.write(data, promise: promise)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard let refusal = event as? CallRefusal else {
      return context.fireUserInboundEventTriggered(event)
    }
    self.refuse(refusal, context: context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The connection's guard sees the same error.
    if self.lateFrames?.isLate(error) == true { return }
    context.fireErrorCaught(error)
  }

  // MARK: Inbound

  private func begin(
    _ headers: HTTP2Frame.FramePayload.Headers, context: ChannelHandlerContext
  ) {
    var headers = headers
    self.limiter.begin(path: headers.headers.first(name: ":path") ?? "")
    self.scanner = self.limiter.makeScanner()
    let timeout = headers.headers["grpc-timeout"].first
    if self.limiter.isActive(.deadline) { headers.headers.remove(name: "grpc-timeout") }
    self.isInputOver = headers.endStream
    let isEmpty = headers.endStream && self.limiter.isActive(.emptyCall)
    if isEmpty { headers.endStream = false }
    context.fireChannelRead(self.wrapInboundOut(.other(.headers(headers))))
    if isEmpty {
      self.limiter.record(.emptyCall)
      self.passEndOfInput(context: context)
    }
    guard let duration = timeout.flatMap(CallDeadline.duration(header:)) else { return }
    self.limiter.startDeadline(in: duration, on: context.eventLoop) {
      self.refuse($0, context: context)
    }
  }

  private func receive(
    _ messages: MessageBytes, _ data: NIOAny, context: ChannelHandlerContext
  ) {
    let bytes = messages.bytes
    if let discardLimit {
      self.discardLimit = discardLimit - bytes.readableBytes
      if discardLimit < bytes.readableBytes { context.close(promise: nil) }
      return
    }
    if let finding = self.scanner?.scan(messages.segments, of: bytes.readableBytesUInt8Span) {
      return self.refuse(self.limiter.refusal(of: finding), context: context)
    }
    if let unfinished = self.scanner?.unfinishedBytes,
      let refusal = self.limiter.reserve(unfinished)
    {
      return self.refuse(refusal, context: context)
    }
    if messages.endStream, self.limiter.isActive(.truncatedMessage), let scanner,
      scanner.isWithinMessage
    {
      return self.refuse(.truncated(missing: scanner.remaining), context: context)
    }
    if messages.endStream { self.isInputOver = true }
    context.fireChannelRead(data)
  }

  private func passEndOfInput(context: ChannelHandlerContext) {
    self.isInputOver = true
    context.fireChannelRead(self.wrapInboundOut(.messages(.end)))
  }

  // MARK: The end

  /// Records that the status is written.
  private func end() {
    self.isOver = true
    self.limiter.stopDeadline()
  }

  private func refuse(_ refusal: CallRefusal, context: ChannelHandlerContext) {
    guard !self.isOver else { return }
    if let guardName = refusal.guardName { self.limiter.record(guardName) }
    // The client may still send the rest of its messages until it has read the status.
    self.discardLimit =
      (self.scanner?.remaining ?? 0) + refusal.unreadBytes + self.limiter.maxMessageBytes
    self.limiter.releaseMessage()
    self.end()
    let trailers = refusal.trailers(hasHeaders: self.hasResponseHeaders)
    context.writeAndFlush(
      self.wrapOutboundOut(.other(.headers(.init(headers: trailers, endStream: true)))),
      promise: nil)
    if !self.isInputOver { self.passEndOfInput(context: context) }
    self.cancellation.cancel()
  }
}

extension CallRefusal {
  /// Returns the trailers that end the call.
  ///
  /// - Parameter hasHeaders: Whether the response's headers were sent; if not, the trailers include
  ///   them.
  fileprivate func trailers(hasHeaders: Bool) -> HPACKHeaders {
    var trailers: HPACKHeaders =
      hasHeaders ? [:] : [":status": "200", "content-type": "application/grpc"]
    trailers.add(name: "grpc-status", value: "\(self.status.rpcErrorCode.rawValue)")
    // The messages are plain ASCII without a per cent sign, and don't need encoding.
    trailers.add(name: "grpc-message", value: self.status.rpcErrorMessage)
    for (name, value) in self.status.rpcErrorMetadata {
      switch value {
      case .string(let string): trailers.add(name: name, value: string)
      case .binary(let bytes): trailers.add(name: name, value: Data(bytes).base64EncodedString())
      }
    }
    return trailers
  }
}
