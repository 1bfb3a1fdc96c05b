/// Reads numbers bit by bit, most significant bit first, as the headers of video do.
///
/// Past the end of the bytes every bit is 0, and ``isExhausted`` is set: a parser reads all of its
/// fields, and checks once.
struct BitReader {
  private let bytes: [UInt8]
  /// The position of the next bit.
  private(set) var position = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Whether more bits were read than there are.
  var isExhausted: Bool { self.position > 8 * self.bytes.count }

  /// The number of bits that are left; 0 past the end.
  var bitsLeft: Int { max(0, 8 * self.bytes.count - self.position) }

  /// Reads one bit.
  mutating func flag() -> Bool {
    let (byte, bit) = (self.position >> 3, self.position & 7)
    // A parser may read on after the end, in loops of up to a few thousand fields.
    self.position += 1
    return byte < self.bytes.count && self.bytes[byte] >> (7 - bit) & 1 == 1
  }

  /// Reads an unsigned number of up to 32 bits.
  mutating func bits(_ count: Int) -> Int {
    var value = 0
    for _ in 0 ..< count { value = value << 1 | (self.flag() ? 1 : 0) }
    return value
  }

  /// Skips bits.
  mutating func skip(_ count: Int) {
    self.position += count
  }

  /// Reads an unsigned Exp-Golomb code (H.264, section 9.1). A code of more than 32 leading zeros,
  /// which no field allows, exhausts the reader.
  mutating func unsigned() -> Int {
    var zeros = 0
    while !self.flag() {
      zeros += 1
      if zeros > 32 {
        self.position = 8 * self.bytes.count + 1
        return 0
      }
    }
    return (1 << zeros) - 1 + self.bits(zeros)
  }

  /// Reads a signed Exp-Golomb code.
  mutating func signed() -> Int {
    let code = self.unsigned()
    return code.isMultiple(of: 2) ? -(code / 2) : (code + 1) / 2
  }

  /// Reads a variable-length unsigned code of AV1 (section 4.10.3).
  mutating func variableLength() -> Int {
    var zeros = 0
    while !self.flag() {
      zeros += 1
      if zeros >= 32 || self.isExhausted { return Int(UInt32.max) }
    }
    return (1 << zeros) - 1 + self.bits(zeros)
  }
}
