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

  /// The longest deadline for which a timer is set.
  private static let maxDeadline = Duration.seconds(365 * 86400)
  /// The size from which messages count against the budget of unfinished ones.
  private static let minCountedBytes = 64 << 10

  private let configuration: GuardConfiguration
  private let maxMessageBytes: Int
  private let unfinished: AddressBudget
  private let lateFrames: LateFrameGuard?
  private let address: String
  private let counters: ConnectionCounters
  private let cancellation: CallCancellation
  private let limitsUnfinishedMessages: Bool
  /// The bytes that are reserved in `unfinished`.
  private var reserved = 0
  private var limits: CallLimits?
  private var scanner: MessageScanner?
  private var deadline = EventLoopTimer()
  private var hasResponseHeaders = false
  /// Whether the handler knows that the client has closed its side.
  private var isInputOver = false
  /// Whether the status was written.
  private var isOver = false
  /// The bytes of a refused call that are still read and discarded; `nil` if the call is not
  /// refused.
  private var discardLimit: Int?

  /// - Parameters:
  ///   - configuration: The limits on the peer.
  ///   - maxMessageBytes: The maximum size of a message in bytes.
  ///   - unfinished: The budget for the bytes of unfinished messages.
  ///   - lateFrames: The guard of the same connection, if it has one.
  ///   - address: The peer's address.
  ///   - counters: Counts the calls that are refused.
  ///   - cancellation: Cancels the call's handler.
  init(
    configuration: GuardConfiguration, maxMessageBytes: Int, unfinished: AddressBudget,
    lateFrames: LateFrameGuard?, address: String, counters: ConnectionCounters,
    cancellation: CallCancellation
  ) {
    self.configuration = configuration
    self.maxMessageBytes = maxMessageBytes
    self.unfinished = unfinished
    self.lateFrames = lateFrames
    self.address = address
    self.counters = counters
    self.cancellation = cancellation
    self.limitsUnfinishedMessages = configuration.active.contains(.unfinishedMessages)
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

  func channelInactive(context: ChannelHandlerContext) {
    self.deadline.cancel()
    _ = self.reserve(0)
    context.fireChannelInactive()
  }

  private func isActive(_ guardName: Guard) -> Bool {
    self.configuration.active.contains(guardName)
  }

  // MARK: Inbound

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
    context.fireChannelRead(self.wrapInboundOut(.other(.headers(headers))))
    if isEmpty {
      self.counters.record(.emptyCall, against: self.address)
      self.passEndOfInput(context: context)
    }
    guard let duration, duration < Self.maxDeadline else { return }
    self.deadline.start(in: duration, on: context.eventLoop) {
      self.refuse(.deadlineExceeded(duration), context: context)
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
    if let finding = self.scanner?.scan(messages.segments, of: bytes.readableBytesUInt8Span),
      let limits
    {
      return self.refuse(.finding(finding, limits), context: context)
    }
    if self.limitsUnfinishedMessages, let unfinished = self.scanner?.unfinishedBytes,
      !self.reserve(unfinished)
    {
      return self.refuse(.noCapacity(for: unfinished, self.configuration), context: context)
    }
    if messages.endStream, self.isActive(.truncatedMessage), let scanner,
      scanner.isWithinMessage
    {
      return self.refuse(.truncated(missing: scanner.remaining), context: context)
    }
    if messages.endStream { self.isInputOver = true }
    context.fireChannelRead(data)
  }

  /// Reserves the bytes of a message, and releases the bytes of the previous message.
  ///
  /// - Returns: Whether the budget had enough.
  private func reserve(_ length: Int) -> Bool {
    let needed = length >= Self.minCountedBytes ? length : 0
    guard needed != self.reserved else { return true }
    if self.reserved > 0 { self.unfinished.release(self.reserved, for: self.address) }
    self.reserved = 0
    guard needed > 0 else { return true }
    guard self.unfinished.reserve(needed, for: self.address) else { return false }
    self.reserved = needed
    return true
  }

  private func passEndOfInput(context: ChannelHandlerContext) {
    self.isInputOver = true
    context.fireChannelRead(self.wrapInboundOut(.messages(.end)))
  }

  // MARK: The end

  /// Records that the status is written.
  private func end() {
    self.isOver = true
    self.deadline.cancel()
  }

  private func refuse(_ refusal: CallRefusal, context: ChannelHandlerContext) {
    guard !self.isOver else { return }
    if let guardName = refusal.guardName { self.counters.record(guardName, against: self.address) }
    // The client may still send the rest of its messages until it has read the status.
    self.discardLimit = (self.scanner?.remaining ?? 0) + refusal.unreadBytes + self.maxMessageBytes
    _ = self.reserve(0)
    self.end()
    let trailers = refusal.trailers(hasHeaders: self.hasResponseHeaders)
    context.writeAndFlush(
      self.wrapOutboundOut(.other(.headers(.init(headers: trailers, endStream: true)))),
      promise: nil)
    if !self.isInputOver { self.passEndOfInput(context: context) }
    self.cancellation.cancel()
  }
}

/// The limits on a call's messages.
struct CallLimits: Sendable {
  /// The maximum size of a message in bytes.
  var maxBytes: Int
  /// The configuration's name of that limit.
  var name: String
  /// The shape of a message; `nil` for an unknown method.
  var shape: MessageShape?

  /// The methods whose requests carry pixels. The messages of all others are small.
  private static let pixelMethods: Set = [
    "/sidelight.v1.FrameFilter/Process", "/sidelight.v1.FrameFilter/Apply",
  ]

  /// - Parameters:
  ///   - path: The method, as in HTTP/2's `:path`.
  ///   - maxMessageBytes: The maximum size of a message with pixels in bytes.
  ///   - maxControlMessageBytes: The maximum size of other messages in bytes.
  init(path: String, maxMessageBytes: Int, maxControlMessageBytes: Int) {
    if Self.pixelMethods.contains(path) || maxMessageBytes <= maxControlMessageBytes {
      (self.maxBytes, self.name) = (maxMessageBytes, "max_message_bytes")
    } else {
      (self.maxBytes, self.name) = (maxControlMessageBytes, "max_control_message_bytes")
    }
    self.shape = MessageShapes.contract.input(ofMethodAt: path)
  }
}

/// The deadline of a call, from the header `grpc-timeout`.
package enum CallDeadline {
  /// Reads a header's value: one to eight digits and a unit, as in gRPC's protocol over HTTP/2.
  ///
  /// - Returns: `nil` for anything else, which disables the deadline.
  package static func duration(header value: String) -> Duration? {
    let digits = value.utf8.dropLast()
    guard (1 ... 8).contains(digits.count), digits.allSatisfy({ (0x30 ... 0x39).contains($0) }),
      let amount = Int64(value.dropLast())
    else { return nil }
    switch value.utf8.last {
    case UInt8(ascii: "H"): return .seconds(amount * 3600)
    case UInt8(ascii: "M"): return .seconds(amount * 60)
    case UInt8(ascii: "S"): return .seconds(amount)
    case UInt8(ascii: "m"): return .milliseconds(amount)
    case UInt8(ascii: "u"): return .microseconds(amount)
    case UInt8(ascii: "n"): return .nanoseconds(amount)
    default: return nil
    }
  }
}
