/// Reads protobuf fields, and skips pixels.
struct WireReader {
  /// The value of a field.
  enum Value {
    case number(UInt64)
    case bytes(UnsafeRawBufferPointer)

    var number: UInt64 {
      if case .number(let number) = self { number } else { 0 }
    }

    var reader: WireReader {
      if case .bytes(let bytes) = self {
        WireReader(bytes)
      } else {
        WireReader(.init(start: nil, count: 0))
      }
    }
  }

  private let bytes: UnsafeRawBufferPointer
  private var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  /// Returns the next field; `nil` at the end, and if the bytes are not a message.
  mutating func next() -> (field: Int, value: Value)? {
    guard let tag = self.varint() else { return nil }
    let field = Int(tag >> 3)
    switch tag & 7 {
    case 0: return self.varint().map { (field, .number($0)) }
    case 1: return self.take(8).map { (field, .number($0.loadUnaligned(as: UInt64.self))) }
    case 2:
      guard let count = self.varint(), let bytes = self.take(Int(clamping: count)) else {
        return nil
      }
      return (field, .bytes(bytes))
    case 5: return self.take(4).map { (field, .number(UInt64($0.loadUnaligned(as: UInt32.self)))) }
    default: return nil
    }
  }

  private mutating func varint() -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: 0, to: 64, by: 7) {
      guard self.offset < self.bytes.count else { return nil }
      let byte = self.bytes[self.offset]
      self.offset += 1
      value |= UInt64(byte & 0x7F) << UInt64(shift)
      if byte < 0x80 { return value }
    }
    return nil
  }

  private mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
    guard count <= self.bytes.count - self.offset else { return nil }
    defer { self.offset += count }
    return UnsafeRawBufferPointer(rebasing: self.bytes[self.offset ..< self.offset + count])
  }
}
