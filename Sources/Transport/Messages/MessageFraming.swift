import GRPCCore
package import NIOCore
import NIOHTTP2

/// The prefix of a gRPC message: one byte of flags and four of length (Length-Prefixed-Message:
/// github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
package struct MessagePrefix: Sendable, Hashable {
  /// The bytes of a prefix.
  package static let byteCount = 5

  /// 1 if the message is compressed; other values are undefined.
  package var flags: UInt8
  /// The bytes of the message, without its prefix.
  package var length: Int
}

/// The part of one message that lies in a piece of a call's bytes.
package struct MessageSegment: Sendable, Hashable {
  /// The bytes of the segment, including its prefix bytes.
  package var byteCount = 0
  /// The bytes of the segment that belong to the message's prefix. The content follows them.
  package var prefixByteCount = 0
  /// The message's prefix, once it is complete.
  package var prefix: MessagePrefix?
  package var isFirst = false
  package var isLast = false

  package var isWhole: Bool { self.isFirst && self.isLast }
  package var completesPrefix: Bool { self.prefix != nil && self.prefixByteCount > 0 }
}

/// The position in a call's stream of messages. It is the one place that reads the prefixes of
/// inbound messages.
package struct MessageCursor: Sendable {
  /// The bytes of an incomplete prefix, and their number.
  private var partialPrefix: (bytes: UInt64, count: Int) = (0, 0)
  /// The prefix of the current message, once it is complete.
  private var prefix: MessagePrefix?
  /// The bytes of the current message that have not been received.
  private var remaining = 0

  package init() {}

  /// Whether the position is within a message.
  package var isWithinMessage: Bool { self.remaining > 0 || self.partialPrefix.count > 0 }

  /// Moves over bytes until messages of a given weight have ended.
  ///
  /// A message of n bytes weighs 1 + n / `bytesPerWeight`. A message that has begun is moved over
  /// to the end of the bytes, or to its own.
  ///
  /// - Parameters:
  ///   - bytes: The next bytes of the stream.
  ///   - limit: The weight at which to stop, at the end of a message.
  ///   - bytesPerWeight: The divisor of a message's length.
  /// - Returns: The contiguous segments of the messages, and the weight of the messages that begin
  ///   in them.
  package mutating func segments(
    of bytes: ByteBuffer, weight limit: Int = .max, bytesPerWeight: Int = .max
  ) -> (segments: [MessageSegment], weight: Int) {
    var segments: [MessageSegment] = []
    var weight = 0
    bytes.withUnsafeReadableBytes { bytes in
      var index = 0
      while index < bytes.count, self.isWithinMessage || weight < limit {
        var segment = MessageSegment(isFirst: !self.isWithinMessage)
        if self.remaining == 0 {
          while index < bytes.count, self.partialPrefix.count < MessagePrefix.byteCount {
            self.partialPrefix.bytes = self.partialPrefix.bytes << 8 | UInt64(bytes[index])
            self.partialPrefix.count += 1
            segment.prefixByteCount += 1
            index += 1
          }
          if self.partialPrefix.count == MessagePrefix.byteCount {
            let prefix = MessagePrefix(
              flags: UInt8(truncatingIfNeeded: self.partialPrefix.bytes >> 32),
              length: Int(self.partialPrefix.bytes & 0xFFFF_FFFF))
            self.partialPrefix = (0, 0)
            self.prefix = prefix
            self.remaining = prefix.length
            weight += 1 + prefix.length / bytesPerWeight
          } else {
            self.prefix = nil
          }
        }
        let content = min(self.remaining, bytes.count - index)
        self.remaining -= content
        index += content
        segment.prefix = self.prefix
        segment.byteCount = segment.prefixByteCount + content
        segment.isLast = !self.isWithinMessage
        segments.append(segment)
      }
    }
    return (segments, weight)
  }
}

/// Bytes of messages, with their division into messages.
struct MessageBytes {
  var bytes: ByteBuffer
  /// The segments of the bytes, without gaps.
  var segments: [MessageSegment]
  /// Whether these are the peer's last bytes.
  var endStream: Bool

  /// The end of the peer's messages.
  static let end = MessageBytes(bytes: ByteBuffer(), segments: [], endStream: true)
}

/// A value that passes between this module's handlers on a call's channel, from HTTP/2 to gRPC.
enum InboundCallPart {
  case messages(MessageBytes)
  /// Headers, a reset, and everything else of HTTP/2.
  case other(HTTP2Frame.FramePayload)
}

/// A value that passes between this module's handlers on a call's channel, from gRPC to HTTP/2.
enum OutboundCallPart {
  /// Bytes of messages, in their original buffers and in this order.
  case messages([ByteBuffer], endStream: Bool)
  /// Headers, a reset, and everything else of HTTP/2.
  case other(HTTP2Frame.FramePayload)
}

/// A message and its prefix, in their original buffers.
package struct FramedMessage: Sendable {
  /// The size from which pixels are sent without copying, in a separate write. Fewer pixels are
  /// copied to the rest of their message, which takes less time.
  static let minStoredByteCount = 64 << 10
  /// The size from which a message in one buffer is sent without copying. Smaller messages are
  /// copied, and share a write with others.
  private static let minSingleByteCount = 4 << 10

  /// The bytes that are sent, in this order; the first buffer begins with the prefix.
  package let pieces: [ByteBuffer]

  /// - Parameter pieces: The first begins with the message's prefix.
  init(_ pieces: [ByteBuffer]) {
    self.pieces = pieces
  }

  /// The bytes of the message, without its prefix.
  package var byteCount: Int {
    self.pieces.reduce(-MessagePrefix.byteCount) { $0 + $1.readableBytes }
  }

  /// Whether sending the message without copying takes less time than copying it.
  var isWorthStoring: Bool {
    self.byteCount
      >= (self.pieces.count == 1 ? Self.minSingleByteCount : Self.minStoredByteCount)
  }

  /// Returns a copy of the message, without its prefix.
  func joined<Bytes: GRPCContiguousBytes>() -> Bytes {
    var joined = self.pieces[0]
    joined.reserveCapacity(MessagePrefix.byteCount + self.byteCount)
    for piece in self.pieces.dropFirst() { joined.writeImmutableBuffer(piece) }
    return Bytes(joined.readableBytesView.dropFirst(MessagePrefix.byteCount))
  }
}
