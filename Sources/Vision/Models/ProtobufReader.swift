/// Reads the fields of a message in the encoding of Protocol Buffers. The bytes may be hostile.
struct ProtobufReader {
  /// The value of a field. Bytes, texts and messages are ranges of the file.
  enum Value {
    case number(UInt64)
    case bytes(Range<Int>)
  }

  private let file: [UInt8]
  private var position: Int
  private let end: Int

  /// - Precondition: The range is in the file.
  init(_ file: [UInt8], _ range: Range<Int>? = nil) {
    self.file = file
    self.position = range?.lowerBound ?? 0
    self.end = range?.upperBound ?? file.count
  }

  /// Returns the next field, and `nil` at the end of the message.
  ///
  /// - Throws: ``VisionError`` with code `malformed`.
  mutating func next() throws(VisionError) -> (field: Int, value: Value)? {
    guard self.position < self.end else { return nil }
    let key = try self.varint()
    guard key >> 3 > 0, key >> 3 < 1 << 29 else {
      throw VisionError(.malformed, "byte \(self.position) is not the start of a field")
    }
    let field = Int(key >> 3)
    switch key & 7 {
    case 0: return (field, .number(try self.varint()))
    case 1: return (field, .bytes(try self.take(8)))
    case 2: return (field, .bytes(try self.take(self.varint())))
    case 5: return (field, .bytes(try self.take(4)))
    default: throw VisionError(.malformed, "the field at byte \(self.position) has no known type")
    }
  }

  /// Returns the next number of a packed list, and `nil` at its end.
  ///
  /// - Throws: ``VisionError`` with code `malformed`.
  mutating func nextNumber() throws(VisionError) -> UInt64? {
    self.position < self.end ? try self.varint() : nil
  }

  /// Returns the text of a range that ``next()`` returned.
  func text(_ range: Range<Int>) -> String {
    String(decoding: self.file[range], as: UTF8.self)
  }

  /// Returns a reader of the message in a range that ``next()`` returned.
  func message(_ range: Range<Int>) -> ProtobufReader {
    ProtobufReader(self.file, range)
  }

  private mutating func take(_ count: UInt64) throws(VisionError) -> Range<Int> {
    guard count <= UInt64(self.end - self.position) else {
      throw VisionError(
        .malformed, "the field at byte \(self.position) ends after the end of its message")
    }
    let start = self.position
    self.position += Int(count)
    return start ..< self.position
  }

  private mutating func varint() throws(VisionError) -> UInt64 {
    var result: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard self.position < self.end else { break }
      let byte = self.file[self.position]
      self.position += 1
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return result }
    }
    throw VisionError(.malformed, "the number at byte \(self.position) does not end")
  }
}
