/// Reads the fields of one protobuf message without decoding them
/// (protobuf.dev/programming-guides/encoding). The bytes may be hostile.
///
/// The declarations are public because the compiler does not specialize functions of level `package`
/// in other modules, where they are eight times as slow. The module is in no product.
public struct ProtobufReader<Bytes: RandomAccessCollection<UInt8>> where Bytes.Index == Int {
  /// The value of a field.
  public enum Value: Sendable, Hashable {
    /// A number of variable length.
    case number(UInt64)
    /// The offsets of the 4 or 8 bytes of a number with a fixed length.
    case fixed(Range<Int>)
    /// The offsets of a message, a text, a packed list or bytes.
    case bytes(Range<Int>)
  }

  /// A field of a message.
  public struct Field: Sendable, Hashable {
    /// The field's number.
    public var number: Int
    /// The offset of its tag.
    public var start: Int
    /// The field's value, or where it is.
    public var value: Value

    @inlinable
    init(number: Int, start: Int, value: Value) {
      self.number = number
      self.start = start
      self.value = value
    }
  }

  @usableFromInline let bytes: Bytes
  @usableFromInline let end: Int
  @usableFromInline var offset: Int

  /// - Parameter range: The range of the message; `nil` reads all bytes.
  /// - Precondition: The range is within the bytes.
  @inlinable
  public init(_ bytes: Bytes, in range: Range<Int>? = nil) {
    self.bytes = bytes
    self.offset = range?.lowerBound ?? bytes.startIndex
    self.end = range?.upperBound ?? bytes.endIndex
  }

  /// Returns the next field, or `nil` at the end of the message.
  ///
  /// - Throws: ``ProtobufError``, also for groups, which only a decoder can read.
  @inlinable
  public mutating func next() throws(ProtobufError) -> Field? {
    guard self.offset < self.end else { return nil }
    let start = self.offset
    let tag = try self.number()
    // Some decoders refuse longer tags, however small the number.
    guard self.offset - start <= 5, tag >> 3 >= 1, tag >> 3 <= 0x1FFF_FFFF else {
      throw ProtobufError(offset: start, reason: "is not the start of a field")
    }
    let value: Value
    switch tag & 7 {
    case 0: value = .number(try self.number())
    case 1: value = .fixed(try self.take(8))
    case 2: value = .bytes(try self.take(try self.number()))
    case 5: value = .fixed(try self.take(4))
    default: throw ProtobufError(offset: start, reason: "starts a field of an unknown type")
    }
    return Field(number: Int(tag >> 3), start: start, value: value)
  }

  /// Returns the next number of a packed list, or `nil` at its end.
  ///
  /// - Throws: ``ProtobufError``.
  @inlinable
  public mutating func nextNumber() throws(ProtobufError) -> UInt64? {
    self.offset < self.end ? try self.number() : nil
  }

  /// Returns a reader of the message in a range that ``next()`` returned.
  @inlinable
  public func message(_ range: Range<Int>) -> ProtobufReader {
    ProtobufReader(self.bytes, in: range)
  }

  /// Returns the text in a range that ``next()`` returned.
  @inlinable
  public func text(_ range: Range<Int>) -> String {
    String(decoding: self.bytes[range], as: UTF8.self)
  }

  @inlinable
  mutating func take(_ count: UInt64) throws(ProtobufError) -> Range<Int> {
    guard count <= UInt64(self.end - self.offset) else {
      throw ProtobufError(
        offset: self.offset, reason: "is in a field that ends after the end of its message")
    }
    let start = self.offset
    self.offset += Int(count)
    return start ..< self.offset
  }

  /// Reads a number of variable length.
  @inlinable
  mutating func number() throws(ProtobufError) -> UInt64 {
    let start = self.offset
    var value: UInt64 = 0
    for shift in stride(from: 0, through: 63, by: 7) {
      guard self.offset < self.end else { break }
      let byte = self.bytes[self.offset]
      self.offset += 1
      // The tenth byte has room for one bit.
      guard shift < 63 || byte <= 1 else { break }
      value |= UInt64(byte & 0x7F) << UInt64(shift)
      if byte < 0x80 { return value }
    }
    throw ProtobufError(offset: start, reason: "starts a number that does not end")
  }
}

/// An error about bytes that are not a protobuf message.
public struct ProtobufError: Error, CustomStringConvertible {
  /// The offset of the first byte that has no meaning.
  public var offset: Int
  @usableFromInline let reason: StaticString

  @inlinable
  init(offset: Int, reason: StaticString) {
    self.offset = offset
    self.reason = reason
  }

  /// The offset and what is wrong there.
  public var description: String { "byte \(self.offset) \(self.reason)" }
}
