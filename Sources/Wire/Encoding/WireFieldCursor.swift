/// The position of a length-delimited field in an encoded protobuf message.
struct WireField: Sendable, Hashable {
  var number: Int
  /// The offset of its tag.
  var start: Int
  /// The offsets of its payload.
  var payload: Range<Int>
}

/// A walk over the fields of one protobuf message that does not decode them
/// (protobuf.dev/programming-guides/encoding).
///
/// It throws ``Unreadable`` for groups and for malformed bytes, which only a decoder can judge.
struct WireFieldCursor {
  /// Only a decoder can judge these bytes.
  struct Unreadable: Error {}

  private let bytes: UnsafeRawBufferPointer
  private let end: Int
  private var offset: Int

  /// - Parameter range: The range of the message in `bytes`.
  init(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) {
    self.bytes = bytes
    self.offset = range.lowerBound
    self.end = range.upperBound
  }

  /// Returns the next field with that number, if any, and skips other fields.
  ///
  /// - Throws: ``Unreadable``, also if the field is not length-delimited.
  mutating func next(_ number: Int) throws(Unreadable) -> WireField? {
    while self.offset < self.end {
      let start = self.offset
      let tag = try self.varint()
      // Some decoders refuse longer tags, however small the number.
      guard self.offset - start <= 5 else { throw Unreadable() }
      guard tag >> 3 >= 1, tag >> 3 <= 0x1FFF_FFFF else { throw Unreadable() }
      let isWanted = tag >> 3 == UInt64(number)
      switch tag & 7 {
      case 0 where !isWanted: _ = try self.varint()
      case 1 where !isWanted: try self.skip(8)
      case 5 where !isWanted: try self.skip(4)
      case 2:
        let length = try self.varint()
        guard length <= UInt64(self.end - self.offset) else { throw Unreadable() }
        let payload = self.offset ..< self.offset + Int(length)
        self.offset = payload.upperBound
        if isWanted { return WireField(number: number, start: start, payload: payload) }
      default: throw Unreadable()
      }
    }
    return nil
  }

  /// Returns the only field with that number.
  ///
  /// - Returns: `nil` if the field is missing.
  /// - Throws: ``Unreadable`` if there are several, since they would have to be merged.
  static func only(
    _ number: Int, of bytes: UnsafeRawBufferPointer, in range: Range<Int>
  ) throws(Unreadable) -> WireField? {
    var cursor = WireFieldCursor(bytes, in: range)
    guard let field = try cursor.next(number) else { return nil }
    guard try cursor.next(number) == nil else { throw Unreadable() }
    return field
  }

  private mutating func skip(_ count: Int) throws(Unreadable) {
    guard count <= self.end - self.offset else { throw Unreadable() }
    self.offset += count
  }

  private mutating func varint() throws(Unreadable) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: 0, through: 63, by: 7) {
      guard self.offset < self.end else { throw Unreadable() }
      let byte = self.bytes[self.offset]
      self.offset += 1
      // The tenth byte has room for one bit.
      guard shift < 63 || byte <= 1 else { throw Unreadable() }
      value |= UInt64(byte & 0x7F) << UInt64(shift)
      if byte < 0x80 { return value }
    }
    throw Unreadable()
  }
}
