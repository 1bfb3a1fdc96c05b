import GRPCCore
import GRPCProtobuf
import NIOCore
import NIOHPACK
import NIOHTTP2
import SidelightWire

/// Stands between HTTP/2 and gRPC on each call: refuses messages that are too long, too complex or cut
/// off, and ends the call when its time is over.
///
/// A call that is refused, here or by a ``CallRefusal`` from elsewhere, gets its status from here. The handler is told that the call is cancelled,
/// and whatever it still says is thrown away.
final class CallGuard: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  /// No timer is set for a time that nobody will see the end of.
  private static let longestDeadline = Duration.seconds(365 * 86400)
  /// Messages under that are not counted.
  private static let smallBytes = 64 << 10

  private let configuration: GuardConfiguration
  private let maxMessageBytes: Int
  private let unfinished: AddressBudget
  private let lateFrames: LateFrameGuard?
  private let address: String
  private let ledger: ConnectionLedger
  /// What is taken of that budget.
  private var reserved = 0
  private var limits: CallLimits?
  private var scanner: MessageScanner?
  private var deadline = LoopTimer()
  private var hasResponseHeaders = false
  /// Whether the client has closed its side, as far as the handler knows.
  private var isInputOver = false
  /// Whether the status was written.
  private var isOver = false
  /// Bytes of a refused message that are still read and thrown away; `nil` if none was refused.
  private var patience: Int?

  /// - Parameters:
  ///   - configuration: What the peer may do.
  ///   - maxMessageBytes: The most bytes of a message.
  ///   - unfinished: For the bytes of messages that have begun and not ended.
  ///   - lateFrames: Of the same connection; `nil`: none stands there.
  ///   - address: Whose call it is.
  ///   - ledger: For calls that are refused.
  init(
    configuration: GuardConfiguration, maxMessageBytes: Int, unfinished: AddressBudget,
    lateFrames: LateFrameGuard?, address: String, ledger: ConnectionLedger
  ) {
    self.configuration = configuration
    self.maxMessageBytes = maxMessageBytes
    self.unfinished = unfinished
    self.lateFrames = lateFrames
    self.address = address
    self.ledger = ledger
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch self.unwrapInboundIn(data) {
    case .headers(let headers) where self.scanner == nil:
      self.begin(headers, context: context)
    case .data(let payload):
      guard case .byteBuffer(let bytes) = payload.data else { return }
      self.receive(bytes, isLast: payload.endStream, data, context: context)
    default:
      context.fireChannelRead(data)
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard self.patience == nil else {
      promise?.fail(ChannelError.outputClosed)
      return
    }
    if case .headers(let headers) = self.unwrapOutboundIn(data) {
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
    // The connection is told of it as well.
    if self.lateFrames?.isLate(error) == true { return }
    context.fireErrorCaught(error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.deadline.cancel()
    _ = self.reserve(0)
    context.fireChannelInactive()
  }

  private func isActive(_ which: Guard) -> Bool { self.configuration.active.contains(which) }

  // MARK: What comes in

  private func begin(
    _ headers: HTTP2Frame.FramePayload.Headers, context: ChannelHandlerContext
  ) {
    var headers = headers
    let limits = CallLimits(
      path: headers.headers.first(name: ":path") ?? "", maxMessageBytes: self.maxMessageBytes,
      maxControlMessageBytes: self.configuration.maxControlMessageBytes)
    self.limits = limits
    self.scanner = MessageScanner(
      maxBytes: self.isActive(.messageSize) ? limits.maxBytes : .max,
      mayBeCompressed: !self.isActive(.compression),
      shape: self.isActive(.messageFields) ? limits.shape : nil,
      maxFields: self.configuration.maxMessageFields)
    var duration: Duration?
    if self.isActive(.deadline) {
      let header = headers.headers["grpc-timeout"].first
      headers.headers.remove(name: "grpc-timeout")
      duration = header.flatMap(CallDeadline.duration(header:))
    }
    self.isInputOver = headers.endStream
    let isEmpty = headers.endStream && self.isActive(.emptyCall)
    if isEmpty { headers.endStream = false }
    context.fireChannelRead(self.wrapInboundOut(.headers(headers)))
    if isEmpty {
      self.ledger.record(.emptyCall, against: self.address)
      self.passEndOfInput(context: context)
    }
    guard let duration, duration < Self.longestDeadline else { return }
    self.deadline.start(in: duration, on: context.eventLoop) {
      self.refuse(.deadlineExceeded(duration), context: context)
    }
  }

  private func receive(
    _ bytes: ByteBuffer, isLast: Bool, _ data: NIOAny, context: ChannelHandlerContext
  ) {
    if let patience {
      self.patience = patience - bytes.readableBytes
      if patience < bytes.readableBytes { context.close(promise: nil) }
      return
    }
    if let finding = self.scanner?.scan(bytes.readableBytesUInt8Span), let limits {
      return self.refuse(.finding(finding, limits), context: context)
    }
    if let scanner, self.isActive(.unfinishedMessages), !self.reserve(scanner.unfinishedBytes) {
      return self.refuse(
        .noRoom(for: scanner.unfinishedBytes, self.configuration), context: context)
    }
    if isLast, self.isActive(.truncatedMessage), let scanner, scanner.isWithinMessage {
      return self.refuse(.truncated(missing: scanner.remaining), context: context)
    }
    if isLast { self.isInputOver = true }
    context.fireChannelRead(data)
  }

  /// Takes of the budget what a message needs, in place of what the one before did.
  private func reserve(_ length: Int) -> Bool {
    let needed = length >= Self.smallBytes ? length : 0
    guard needed != self.reserved else { return true }
    if self.reserved > 0 { self.unfinished.giveBack(self.reserved, for: self.address) }
    self.reserved = 0
    guard needed > 0 else { return true }
    guard self.unfinished.take(needed, for: self.address) else { return false }
    self.reserved = needed
    return true
  }

  private func passEndOfInput(context: ChannelHandlerContext) {
    self.isInputOver = true
    context.fireChannelRead(
      self.wrapInboundOut(.data(.init(data: .byteBuffer(ByteBuffer()), endStream: true))))
  }

  // MARK: The end

  /// The status is on its way.
  private func end() {
    self.isOver = true
    self.deadline.cancel()
  }

  private func refuse(_ refusal: CallRefusal, context: ChannelHandlerContext) {
    guard !self.isOver else { return }
    if let by = refusal.by { self.ledger.record(by, against: self.address) }
    // What the client had begun to send it may go on sending, until it has read the status.
    self.patience = (self.scanner?.remaining ?? 0) + refusal.unreadBytes + self.maxMessageBytes
    _ = self.reserve(0)
    self.end()
    let trailers = refusal.trailers(hasHeaders: self.hasResponseHeaders)
    context.writeAndFlush(
      self.wrapOutboundOut(.headers(.init(headers: trailers, endStream: true))), promise: nil)
    if !self.isInputOver { self.passEndOfInput(context: context) }
    // gRPC's handler of the call takes this for a cancellation, which nothing else can tell it.
    context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
  }
}
