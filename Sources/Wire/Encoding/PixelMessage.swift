package import SwiftProtobuf

/// A message of the contract that carries pixels.
package protocol PixelMessage: SwiftProtobuf.Message {
  /// The numbers of the fields that lead to the pixels, from the outermost.
  static var pixelPath: [Int] { get }
  /// The image, if the message is of a kind that has one.
  var carriedImage: Sidelight_V1_Image? { get set }
}

extension Sidelight_V1_ClientMessage: PixelMessage {
  package static var pixelPath: [Int] { [1, 2, 15] }  // frame, image, inline

  package var carriedImage: Sidelight_V1_Image? {
    get {
      guard case .frame(let frame)? = self.kind, frame.hasImage else { return nil }
      return frame.image
    }
    set { self.frame.image = newValue ?? Sidelight_V1_Image() }
  }
}

extension Sidelight_V1_ServerMessage: PixelMessage {
  package static var pixelPath: [Int] { [1, 2, 15] }  // frame, image, inline

  package var carriedImage: Sidelight_V1_Image? {
    get {
      guard case .frame(let frame)? = self.kind, frame.hasImage else { return nil }
      return frame.image
    }
    set { self.frame.image = newValue ?? Sidelight_V1_Image() }
  }
}

/// The location of the pixels in an encoded message: the fields that lead to them, from the
/// outermost.
package struct PixelLocation: Sendable, Hashable {
  /// The last field holds the pixels.
  private let fields: [WireField]

  /// The offsets of the pixels.
  package var pixels: Range<Int> { self.fields[self.fields.count - 1].payload }

  /// Finds the pixels of a message.
  ///
  /// - Parameter path: Field numbers, from the outermost.
  /// - Returns: `nil` if the message is without pixels, or if only a decoder can judge it: it is
  ///   malformed, has groups, or has a field on the path more than once.
  package init?(_ path: [Int], in bytes: UnsafeRawBufferPointer) {
    var fields: [WireField] = []
    fields.reserveCapacity(path.count)
    var range = 0 ..< bytes.count
    for number in path {
      guard let field = try? WireFieldCursor.only(number, of: bytes, in: range) else { return nil }
      fields.append(field)
      range = field.payload
    }
    self.fields = fields
  }

  /// The bytes of the message behind its pixels.
  package func suffix(of bytes: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
    bytes[self.pixels.upperBound...]
  }

  /// Appends the message up to the first pixel, as it is encoded with `count` bytes of pixels.
  package func appendPrefix(
    of bytes: UnsafeRawBufferPointer, pixelByteCount count: Int, to prefix: inout [UInt8]
  ) {
    // The length of a field covers the bytes before the next field, that field, and the bytes after
    // it.
    var lengths = [Int](repeating: count, count: self.fields.count)
    for index in self.fields.indices.dropLast().reversed() {
      let (field, inner) = (self.fields[index], self.fields[index + 1])
      lengths[index] =
        field.payload.count - (inner.payload.upperBound - inner.start)
        + inner.tag.varintByteCount + UInt64(lengths[index + 1]).varintByteCount
        + lengths[index + 1]
    }
    var copied = 0
    for (field, length) in zip(self.fields, lengths) {
      prefix.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[copied ..< field.start]))
      prefix.appendVarint(field.tag)
      prefix.appendVarint(UInt64(length))
      copied = field.payload.lowerBound
    }
  }

  /// Returns the message without its pixels.
  package func messageWithoutPixels(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var message: [UInt8] = []
    message.reserveCapacity(bytes.count - self.pixels.count)
    self.appendPrefix(of: bytes, pixelByteCount: 0, to: &message)
    message.append(contentsOf: UnsafeRawBufferPointer(rebasing: self.suffix(of: bytes)))
    return message
  }
}

extension WireField {
  /// The tag of a length-delimited field.
  fileprivate var tag: UInt64 { UInt64(self.number) << 3 | 2 }
}

extension UInt64 {
  /// The bytes of the number in protobuf's variable-length encoding.
  fileprivate var varintByteCount: Int {
    (UInt64.bitWidth - (self | 1).leadingZeroBitCount + 6) / 7
  }
}

extension [UInt8] {
  /// Appends a number in protobuf's variable-length encoding.
  fileprivate mutating func appendVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      self.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    self.append(UInt8(rest))
  }
}

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
