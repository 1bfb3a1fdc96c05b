package import NIOCore
import SidelightKernels

/// The opcode of a WebSocket frame (RFC 6455, 5.2).
package enum WebSocketOpcode: UInt8, Sendable {
  case continuation = 0
  case text = 1
  case binary = 2
  case close = 8
  case ping = 9
  case pong = 10

  /// Whether a frame of that kind may come between the fragments of a message.
  var isControl: Bool { self.rawValue >= 8 }
}

/// The reason of a close frame (RFC 6455, 7.4).
package struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
  package var rawValue: UInt16

  package init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// The call has succeeded, or its client closes the WebSocket.
  package static let normal = Self(rawValue: 1000)
  /// The peer has violated the protocol.
  package static let protocolError = Self(rawValue: 1002)
  /// A text message other than `end`.
  package static let unsupportedData = Self(rawValue: 1003)
  /// A close frame whose reason is not UTF-8.
  package static let invalidText = Self(rawValue: 1007)
  /// The peer exceeds a limit other than the size of a message.
  package static let policyViolation = Self(rawValue: 1008)
  /// A message exceeds the limit.
  package static let messageTooBig = Self(rawValue: 1009)

  /// Returns the code for a status of gRPC: 1000 for OK, 4000 plus the status otherwise.
  package static func status(_ code: Int) -> Self {
    code == 0 ? .normal : Self(rawValue: 4000 + UInt16(clamping: code))
  }

  /// Whether a close frame may carry the code: 1004 to 1006 and 1015 are never sent, and codes
  /// below 1000 or above 4999 are undefined.
  var isValid: Bool {
    switch self.rawValue {
    case 1000 ... 1003, 1007 ... 1014, 3000 ... 4999: true
    default: false
    }
  }
}

/// A violation of a limit or of the protocol, which closes the WebSocket.
package struct WebSocketViolation: Error, Sendable, Hashable {
  package var code: WebSocketCloseCode
  /// The reason in the close frame.
  package var reason: String

  package init(_ code: WebSocketCloseCode, _ reason: String) {
    self.code = code
    self.reason = reason
  }
}

/// The head of a frame.
struct WebSocketFrameHead {
  /// The maximum size of a head in bytes: 2, a length of 8, and a masking key of 4.
  static let maxByteCount = 14
  /// The maximum number of bytes in a control frame.
  static let maxControlBytes = 125

  var opcode: WebSocketOpcode
  var isFinal: Bool
  /// The bytes of the content.
  var length: Int
  /// The masking key, its first byte in the lowest bits; 0 leaves the content as it is.
  var key: UInt32

  /// Writes the head of a frame that a server sends, which is not masked.
  static func write(_ opcode: WebSocketOpcode, length: Int, to buffer: inout ByteBuffer) {
    buffer.writeInteger(0x80 | opcode.rawValue)
    switch length {
    case ...125: buffer.writeInteger(UInt8(length))
    case ...0xFFFF: buffer.writeMultipleIntegers(UInt8(126), UInt16(length))
    default: buffer.writeMultipleIntegers(UInt8(127), UInt64(length))
    }
  }

  /// The ping of a server, without content.
  static var ping: ByteBuffer {
    var buffer = ByteBuffer()
    Self.write(.ping, length: 0, to: &buffer)
    return buffer
  }

  /// Returns the close frame of a server. A reason that is too long is cut off.
  static func close(_ code: WebSocketCloseCode, _ reason: String) -> ByteBuffer {
    let reason = reason.clipped(toBytes: Self.maxControlBytes - 2)
    var buffer = ByteBuffer()
    Self.write(.close, length: 2 + reason.utf8.count, to: &buffer)
    buffer.writeInteger(code.rawValue)
    buffer.writeString(reason)
    return buffer
  }
}

extension ByteBuffer {
  /// Appends the content of a frame without its mask. It is the only pass over the bytes.
  ///
  /// - Parameters:
  ///   - key: The masking key, its first byte in the lowest bits.
  ///   - offset: The bytes of the content before that part.
  package mutating func writeUnmasked(_ content: ByteBuffer, key: UInt32, offset: Int) {
    let count = content.readableBytes
    // The key as it applies to the first byte of the part.
    let shift = UInt32(offset & 3) * 8
    let rotated = shift == 0 ? key : key >> shift | key << (32 - shift)
    let word = UInt64(rotated) << 32 | UInt64(rotated)
    self.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { target in
      content.withUnsafeReadableBytes { source in
        var index = 0
        while index + 8 <= count {
          let masked = UInt64(
            littleEndian: source.loadUnaligned(fromByteOffset: index, as: UInt64.self))
          target.storeBytes(of: (masked ^ word).littleEndian, toByteOffset: index, as: UInt64.self)
          index += 8
        }
        while index < count {
          target[index] = source[index] ^ UInt8(truncatingIfNeeded: word >> UInt64(8 * (index & 7)))
          index += 1
        }
      }
      return count
    }
  }
}
