/// Writes protobuf fields.
///
/// The sender shares the processors with the server that it measures. Messages are therefore
/// encoded by hand from pixels that were encoded once, which costs one copy per frame.
struct WireWriter {
  private(set) var bytes: [UInt8] = []

  /// Returns the bytes that `body` writes.
  static func message(_ body: (inout WireWriter) -> Void) -> [UInt8] {
    var writer = WireWriter()
    body(&writer)
    return writer.bytes
  }

  mutating func varint(_ field: Int, _ value: UInt64) {
    self.append(UInt64(field << 3))
    self.append(value)
  }

  mutating func double(_ field: Int, _ value: Double) {
    self.append(UInt64(field << 3 | 1))
    withUnsafeBytes(of: value.bitPattern.littleEndian) { self.bytes.append(contentsOf: $0) }
  }

  mutating func string(_ field: Int, _ value: String) {
    self.length(field, value.utf8.count)
    self.bytes.append(contentsOf: value.utf8)
  }

  mutating func message(_ field: Int, _ value: [UInt8]) {
    self.length(field, value.count)
    self.bytes.append(contentsOf: value)
  }

  /// Writes the tag and the length of a field, whose bytes follow.
  mutating func length(_ field: Int, _ count: Int) {
    self.append(UInt64(field << 3 | 2))
    self.append(UInt64(count))
  }

  private mutating func append(_ value: UInt64) {
    var value = value
    while value > 0x7F {
      self.bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    self.bytes.append(UInt8(value))
  }
}
