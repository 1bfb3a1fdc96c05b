package import NIOCore
import SidelightWire

/// The handler below HTTP/2 on a connection that sees frames before the packages above do.
///
/// It answers PINGs (``Guard/pings``): the limit of the packages above, 200 in 30 seconds, cannot
/// be set from outside, and grpc-go sends one for each burst of data that it receives. PINGs beyond
/// a budget are left to that limit.
///
/// It closes connections that abandon one call after the other (``Guard/resets``), before the limit
/// of the packages above is reached, which leaves memory behind.
///
/// It also completes a read when a connection closes in the midst of it. HTTP/2 keeps a list of the
/// streams that have read until the read is complete. A closed socket does not report that any
/// more, and the list would keep the streams, the connection and its buffers, half a megabyte in
/// all, for ever.
final class HTTP2FrameGuard: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = IOData

  private var scanner = HTTP2FrameScanner()
  private var pings: RateBudget?
  private var resets: RateBudget?
  private let counters: ConnectionCounters
  private var countedResets = 0
  /// The answers to PINGs, which are written together when the read is complete.
  private var answers = ByteBuffer()
  /// Whether the handlers above have read, and the read is not complete.
  private var isReading = false

  /// - Parameters:
  ///   - pings: The PINGs that are answered; `nil` answers none.
  ///   - resets: The calls that may be abandoned; `nil` disables the limit.
  ///   - counters: Counts the PINGs beyond the budget.
  init(pings: RateBudget?, resets: RateBudget?, counters: ConnectionCounters) {
    self.pings = pings
    self.resets = resets
    self.counters = counters
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    self.isReading = true
    let parts = self.scanner.scan(self.unwrapInboundIn(data))
    guard self.takeResets() else { return context.abortConnection(by: .resets) }
    // A handler above may close the connection in the midst of this.
    for part in parts where context.channel.isActive {
      switch part {
      case .bytes(let bytes): context.fireChannelRead(self.wrapInboundOut(bytes))
      case .ping(let opaque): self.receive(ping: opaque, context: context)
      }
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    self.isReading = false
    if self.answers.readableBytes > 0 {
      context.writeAndFlush(self.wrapOutboundOut(.byteBuffer(self.answers)), promise: nil)
      self.answers = ByteBuffer()
    }
    context.fireChannelReadComplete()
  }

  func channelInactive(context: ChannelHandlerContext) {
    context.fireChannelInactive()
    guard self.isReading else { return }
    self.isReading = false
    context.fireChannelReadComplete()
  }

  private func receive(ping opaque: UInt64, context: ChannelHandlerContext) {
    if self.pings?.take(at: .now()) == true {
      HTTP2PingFrame.answer(opaque).write(to: &self.answers)
    } else {
      if self.pings != nil {
        self.counters.record(.pings, against: context.channel.peerAddress)
      }
      context.fireChannelRead(self.wrapInboundOut(HTTP2PingFrame.request(opaque).bytes))
    }
  }

  /// Takes the resets that were received from their budget.
  ///
  /// - Returns: Whether the budget had enough.
  private func takeResets() -> Bool {
    while self.countedResets < self.scanner.resetCount {
      self.countedResets += 1
      if self.resets?.take(at: .now()) == false { return false }
    }
    return true
  }
}

/// Finds the PINGs that ask for an answer in a client's bytes, in whatever pieces they arrive, and
/// counts the calls that the client abandons.
package struct HTTP2FrameScanner {
  /// A part of the bytes, in order.
  package enum Part: Hashable {
    /// Anything else, unchanged.
    case bytes(ByteBuffer)
    /// The contents of a PING, which is removed from the bytes.
    case ping(UInt64)
  }

  /// RST_STREAM frames so far.
  package private(set) var resetCount = 0

  private static let headBytes = 9
  private static let pingBytes = 17

  /// The bytes that pass without inspection: the preface at first, then the rest of a frame.
  private var passing = 24
  /// The beginning of a frame that may be a PING.
  private var held = ByteBuffer()

  package init() {}

  /// Divides bytes into parts. A frame's head, and a PING, are held back until they are complete.
  package mutating func scan(_ bytes: ByteBuffer) -> [Part] {
    var bytes = bytes
    var parts: [Part] = []
    self.complete(from: &bytes, into: &parts)
    // Adjacent bytes without a PING stay together.
    var run = bytes.readerIndex
    var index = run
    func flush() {
      guard index > run, let slice = bytes.getSlice(at: run, length: index - run) else { return }
      parts.append(.bytes(slice))
    }
    while index < bytes.writerIndex {
      let left = bytes.writerIndex - index
      if self.passing > 0 {
        let count = min(self.passing, left)
        self.passing -= count
        index += count
      } else if let length = self.payloadBytes(of: bytes, at: index) {
        self.passing = Self.headBytes + length
      } else if left >= Self.pingBytes {
        flush()
        parts.append(.ping(Self.opaque(of: bytes, at: index)))
        index += Self.pingBytes
        run = index
      } else {
        flush()
        self.held = bytes.getSlice(at: index, length: left) ?? ByteBuffer()
        return parts
      }
    }
    flush()
    return parts
  }

  /// Completes the held bytes until their kind of frame is known.
  private mutating func complete(from bytes: inout ByteBuffer, into parts: inout [Part]) {
    while self.held.readableBytes > 0, bytes.readableBytes > 0 {
      let wanted = self.held.readableBytes < Self.headBytes ? Self.headBytes : Self.pingBytes
      let count = min(wanted - self.held.readableBytes, bytes.readableBytes)
      if var piece = bytes.readSlice(length: count) { self.held.writeBuffer(&piece) }
      if let length = self.payloadBytes(of: self.held, at: self.held.readerIndex) {
        self.passing = length
        parts.append(.bytes(self.held))
        self.held = ByteBuffer()
      } else if self.held.readableBytes == Self.pingBytes {
        parts.append(.ping(Self.opaque(of: self.held, at: self.held.readerIndex)))
        self.held = ByteBuffer()
      }
    }
  }

  /// Reads a frame's head. Returns the length of the payload; `nil` for a PING, or an incomplete
  /// head.
  private mutating func payloadBytes(of bytes: ByteBuffer, at index: Int) -> Int? {
    guard bytes.writerIndex - index >= Self.headBytes,
      let head = bytes.getInteger(at: index, as: UInt32.self),
      let flags = bytes.getInteger(at: index + 4, as: UInt8.self)
    else { return nil }
    let (length, kind) = (Int(head >> 8), head & 0xFF)
    if kind == 3 { self.resetCount += 1 }
    return kind == 6 && length == 8 && flags & 1 == 0 ? nil : length
  }

  private static func opaque(of bytes: ByteBuffer, at index: Int) -> UInt64 {
    bytes.getInteger(at: index + Self.headBytes) ?? 0
  }
}

/// An HTTP/2 PING, as bytes (RFC 9113, section 6.7).
enum HTTP2PingFrame {
  /// A request for an answer with the same eight bytes.
  case request(UInt64)
  /// An answer.
  case answer(UInt64)

  /// Writes the frame: a head of nine bytes, and eight bytes of the sender's choice.
  func write(to bytes: inout ByteBuffer) {
    let (flags, opaque): (UInt8, UInt64) =
      switch self {
      case .request(let opaque): (0, opaque)
      case .answer(let opaque): (1, opaque)
      }
    bytes.writeMultipleIntegers(UInt8(0), UInt16(8), UInt8(6), flags, UInt32(0), opaque)
  }

  /// The frame by itself.
  var bytes: ByteBuffer {
    var bytes = ByteBuffer()
    self.write(to: &bytes)
    return bytes
  }
}
