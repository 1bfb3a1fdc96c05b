/// Where the pixels stand in an encoded message: the fields that lead to them, from the outermost.
struct PixelPlace: Sendable, Hashable {
  /// The last of them holds the pixels.
  let fields: [WireField]

  /// The offsets of the pixels.
  var pixels: Range<Int> { self.fields[self.fields.count - 1].payload }

  /// Looks for the pixels of a message.
  ///
  /// - Parameter path: Field numbers, from the outermost.
  /// - Returns: `nil` if the message has no pixels, or stands in a way that only a decoder can judge:
  ///   broken, with groups, or with a field on the path more than once.
  init?(_ path: [Int], in bytes: UnsafeRawBufferPointer) {
    var fields: [WireField] = []
    var range = 0 ..< bytes.count
    for number in path {
      guard let field = try? WireFieldCursor.only(number, of: bytes, in: range) else { return nil }
      fields.append(field)
      range = field.payload
    }
    self.fields = fields
  }

  /// The message up to where its pixels begin, if there were `count` bytes of them.
  func prefix(of bytes: UnsafeRawBufferPointer, pixelByteCount count: Int) -> [UInt8] {
    // Each field holds what stood before the next, the next, and what stood behind it.
    var headers: [[UInt8]] = []
    var inner: (field: WireField, byteCount: Int)?
    for field in self.fields.reversed() {
      let length =
        inner.map { inner in
          (inner.field.start - field.payload.lowerBound) + inner.byteCount
            + (field.payload.upperBound - inner.field.payload.upperBound)
        } ?? count
      var header: [UInt8] = []
      header.appendVarint(UInt64(field.number) << 3 | 2)
      header.appendVarint(UInt64(length))
      inner = (field, header.count + length)
      headers.append(header)
    }
    var prefix: [UInt8] = []
    var copied = 0
    for (field, header) in zip(self.fields, headers.reversed()) {
      prefix.append(contentsOf: bytes[copied ..< field.start])
      prefix.append(contentsOf: header)
      copied = field.payload.lowerBound
    }
    return prefix
  }

  /// The message behind its pixels.
  func suffix(of bytes: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
    bytes[self.pixels.upperBound...]
  }
}

extension [UInt8] {
  /// Appends a number in protobuf's variable length.
  mutating func appendVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      self.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    self.append(UInt8(rest))
  }
}
