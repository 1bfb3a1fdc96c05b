import NIOCore

/// A frame of a client, which may be invalid. Encoded as in RFC 6455, 5.2, byte by byte.
struct ClientFrame {
  var opcode: UInt8
  var content: [UInt8] = []
  var isFinal = true
  var isMasked = true
  var reservedBits: UInt8 = 0
  /// The stated length; `nil` states the content's length.
  var length: UInt64?
  /// The bytes that state the length: 0, 2 or 8; `nil` chooses the shortest form.
  var lengthBytes: Int?
  var key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

  static let text: UInt8 = 1
  static let binary: UInt8 = 2
  static let close: UInt8 = 8
  static let ping: UInt8 = 9
  static let pong: UInt8 = 10

  var bytes: [UInt8] {
    let length = self.length ?? UInt64(self.content.count)
    let lengthBytes = self.lengthBytes ?? (length < 126 ? 0 : length < 1 << 16 ? 2 : 8)
    let short: UInt8 = lengthBytes == 0 ? UInt8(length) : lengthBytes == 2 ? 126 : 127
    var bytes = [
      (self.isFinal ? 0x80 : 0) | self.reservedBits << 4 | self.opcode,
      (self.isMasked ? 0x80 : 0) | short,
    ]
    for index in (0 ..< lengthBytes).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: length >> UInt64(8 * index)))
    }
    guard self.isMasked else { return bytes + self.content }
    return bytes + self.key + self.content.enumerated().map { $1 ^ self.key[$0 % 4] }
  }
}
