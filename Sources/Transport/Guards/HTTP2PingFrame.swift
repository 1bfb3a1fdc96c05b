import NIOCore

/// An HTTP/2 PING, as bytes (RFC 9113, section 6.7).
enum HTTP2PingFrame {
  /// Asks for an answer with the same eight bytes.
  case request(UInt64)
  /// Answers.
  case answer(UInt64)

  /// Writes the frame: a head of nine bytes and eight of the sender's choice.
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
