import NIOCore

/// Follows gRPC's framing (one byte of flags, four of length, the message) through the pieces in
/// which HTTP/2 delivers it, without looking at messages or keeping them.
struct MessageLengthScanner: Sendable {
  private var prefix: (bytes: UInt64, count: Int) = (0, 0)
  private var remaining = 0

  /// Moves over the bytes that came.
  ///
  /// - Returns: The first length beyond `limit` that a prefix announced, if one did.
  mutating func scan(_ bytes: ByteBufferView, limit: Int) -> Int? {
    var rest = bytes
    while !rest.isEmpty {
      if self.remaining > 0 {
        let skipped = min(self.remaining, rest.count)
        self.remaining -= skipped
        rest = rest.dropFirst(skipped)
        continue
      }
      self.prefix.bytes = self.prefix.bytes << 8 | UInt64(rest[rest.startIndex])
      self.prefix.count += 1
      rest = rest.dropFirst()
      guard self.prefix.count == 5 else { continue }
      let length = Int(self.prefix.bytes & 0xFFFF_FFFF)
      self.prefix = (0, 0)
      guard length <= limit else { return length }
      self.remaining = length
    }
    return nil
  }
}
