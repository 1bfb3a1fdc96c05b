package import NIOCore
import SidelightWire

/// The handler below HTTP/2 on a connection that sees frames before the packages above do.
///
/// It answers PINGs (``Guard/pings``): the limit of the packages above, 200 in 30 seconds, cannot
/// be set from outside, and grpc-go sends one per burst of data that it receives. PINGs beyond a
/// budget are left to that limit.
///
/// It closes connections that repeatedly abandon calls (``Guard/resets``), before they reach the
/// limit of the packages above, which leaks memory. Resetting a call that already has its whole
/// response doesn't count as abandoning it, here or above: gRPC clients send such a reset if a
/// call, for example a refused one, ends before they have closed their side.
///
/// It also completes a read when a connection closes during the read. HTTP/2 keeps a list of the
/// streams that have read until the read is complete. A closed socket no longer reports completion,
/// and the list would keep the streams, the connection and its buffers, a total of half a megabyte,
/// for ever.
final class HTTP2FrameGuard: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = IOData

  private var scanner = HTTP2FrameScanner()
  private var pings: RateBudget?
  private var resets: RateBudget?
  private let counters: ConnectionCounters
  /// The streams whose whole response is written and whose client has not closed its side.
  private var finishedStreams: Set<UInt32> = []
  /// The answers to PINGs, which are written together when the read is complete.
  private var answers = ByteBuffer()
  /// Whether the handlers above have read, and the read is not complete.
  private var isReading = false

  /// - Parameters:
  ///   - pings: The PINGs that are answered; `nil` disables answering.
  ///   - resets: The calls that may be abandoned; `nil` disables the limit.
  ///   - counters: Counts the PINGs beyond the budget.
  init(pings: RateBudget?, resets: RateBudget?, counters: ConnectionCounters) {
    self.pings = pings
    self.resets = resets
    self.counters = counters
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    self.isReading = true
    // A handler above may close the connection during this loop.
    for part in self.scanner.scan(self.unwrapInboundIn(data)) where context.channel.isActive {
      switch part {
      case .bytes(let bytes): context.fireChannelRead(self.wrapInboundOut(bytes))
      case .ping(let opaque): self.receive(ping: opaque, context: context)
      case .reset(let stream, let bytes):
        guard self.receive(resetOf: stream, bytes, context: context) else {
          return context.abortConnection(by: .resets)
        }
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

  // MARK: Resets

  /// Records that the whole response of a call has been written to the socket.
  func responseIsWritten(on stream: UInt32) {
    self.finishedStreams.insert(stream)
  }

  func streamIsClosed(_ stream: UInt32) {
    self.finishedStreams.remove(stream)
  }

  /// - Returns: Whether the budget of resets allows it.
  private func receive(
    resetOf stream: UInt32, _ bytes: ByteBuffer, context: ChannelHandlerContext
  ) -> Bool {
    if self.finishedStreams.remove(stream) != nil {
      context.fireChannelRead(self.wrapInboundOut(Self.endOfStream(stream)))
      return true
    }
    if self.resets?.take(at: .now()) == false { return false }
    context.fireChannelRead(self.wrapInboundOut(bytes))
    return true
  }

  /// A DATA frame without data that closes the client's side of a stream (RFC 9113, section 6.1).
  private static func endOfStream(_ stream: UInt32) -> ByteBuffer {
    var frame = ByteBuffer()
    frame.writeMultipleIntegers(UInt8(0), UInt16(0), UInt8(0), UInt8(1), stream)
    return frame
  }
}

/// Finds the PINGs that ask for an answer, and the resets of streams, in a client's bytes, which
/// may arrive in pieces of any size.
package struct HTTP2FrameScanner {
  /// A part of the bytes, in order.
  package enum Part: Hashable {
    /// Anything else, unchanged.
    case bytes(ByteBuffer)
    /// The contents of a PING, which is removed from the bytes.
    case ping(UInt64)
    /// A RST_STREAM frame, and the stream that it resets.
    case reset(UInt32, ByteBuffer)
  }

  /// The kind of a frame, by its head.
  private enum Kind {
    /// A PING that asks for an answer (RFC 9113, section 6.7).
    case ping
    /// A RST_STREAM (section 6.4).
    case reset
    /// Any other frame.
    case other(payloadBytes: Int)

    /// The size of the whole frame, if it is held back until it is complete.
    var heldBytes: Int? {
      switch self {
      case .ping: 17
      case .reset: 13
      case .other: nil
      }
    }
  }

  private static let headBytes = 9

  /// The bytes that pass without inspection: the preface at first, then the rest of a frame.
  private var passing = 24
  /// The beginning of a frame that may have to be held back.
  private var held = ByteBuffer()

  package init() {}

  /// Divides bytes into parts. A frame's head, a PING and a reset are held back until they are
  /// complete.
  package mutating func scan(_ bytes: ByteBuffer) -> [Part] {
    var bytes = bytes
    var parts: [Part] = []
    self.complete(from: &bytes, into: &parts)
    // Adjacent bytes without a held frame stay together.
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
        continue
      }
      let kind = Self.kind(of: bytes, at: index)
      if case .other(let payloadBytes)? = kind {
        self.passing = Self.headBytes + payloadBytes
        continue
      }
      flush()
      guard let kind, let length = kind.heldBytes, left >= length,
        let frame = bytes.getSlice(at: index, length: length)
      else {
        self.held = bytes.getSlice(at: index, length: left) ?? ByteBuffer()
        return parts
      }
      parts.append(Self.part(kind, frame))
      index += length
      run = index
    }
    flush()
    return parts
  }

  /// Completes the held bytes until their kind of frame is known, and the whole frame if its kind
  /// is held back.
  private mutating func complete(from bytes: inout ByteBuffer, into parts: inout [Part]) {
    while self.held.readableBytes > 0, bytes.readableBytes > 0 {
      let length = Self.kind(of: self.held, at: self.held.readerIndex)?.heldBytes ?? Self.headBytes
      let count = min(length - self.held.readableBytes, bytes.readableBytes)
      if var piece = bytes.readSlice(length: count) { self.held.writeBuffer(&piece) }
      guard let kind = Self.kind(of: self.held, at: self.held.readerIndex) else { continue }
      if case .other(let payloadBytes) = kind {
        self.passing = payloadBytes
        parts.append(.bytes(self.held))
        self.held = ByteBuffer()
      } else if self.held.readableBytes == kind.heldBytes {
        parts.append(Self.part(kind, self.held))
        self.held = ByteBuffer()
      }
    }
  }

  /// Returns the kind of the frame that begins at an index; `nil` if its head is incomplete.
  private static func kind(of bytes: ByteBuffer, at index: Int) -> Kind? {
    guard bytes.writerIndex - index >= Self.headBytes,
      let head = bytes.getInteger(at: index, as: UInt32.self),
      let flags = bytes.getInteger(at: index + 4, as: UInt8.self)
    else { return nil }
    let length = Int(head >> 8)
    switch head & 0xFF {
    case 6 where length == 8 && flags & 1 == 0: return .ping
    case 3 where length == 4: return .reset
    default: return .other(payloadBytes: length)
    }
  }

  /// Returns the part for a complete frame that was held back.
  private static func part(_ kind: Kind, _ frame: ByteBuffer) -> Part {
    let start = frame.readerIndex
    switch kind {
    case .ping: return .ping(frame.getInteger(at: start + Self.headBytes) ?? 0)
    case .reset:
      // The first bit of a stream's number is reserved.
      let stream = frame.getInteger(at: start + 5, as: UInt32.self) ?? 0
      return .reset(stream & 0x7FFF_FFFF, frame)
    case .other: return .bytes(frame)
    }
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

  /// The frame's own bytes.
  var bytes: ByteBuffer {
    var bytes = ByteBuffer()
    self.write(to: &bytes)
    return bytes
  }
}
