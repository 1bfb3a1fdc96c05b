extension RawSpan {
  /// The byte at an offset.
  ///
  /// - Precondition: The offset lies within the span.
  func byte(at offset: Int) -> UInt8 {
    precondition((0 ..< self.byteCount).contains(offset), "the offset lies outside the span")
    return unsafe self.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }

  /// The 16-bit number at an offset, most significant byte first; `nil` past the end.
  func bigEndian16(at offset: Int) -> Int? {
    guard offset >= 0, offset <= self.byteCount - 2 else { return nil }
    return Int(self.byte(at: offset)) << 8 | Int(self.byte(at: offset + 1))
  }

  /// The 32-bit number at an offset, most significant byte first; `nil` past the end.
  func bigEndian32(at offset: Int) -> Int? {
    guard let high = self.bigEndian16(at: offset), let low = self.bigEndian16(at: offset + 2) else {
      return nil
    }
    return high << 16 | low
  }
}
