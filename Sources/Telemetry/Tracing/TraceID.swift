/// The 128-bit ID of a trace; never zero.
public struct TraceID: Sendable, Hashable, CustomStringConvertible {
  /// The first 64 bits, in the order of the text form.
  public let high: UInt64
  /// The last 64 bits, which samplers use. W3C asks that at least the last 56 are random.
  public let low: UInt64

  /// - Returns: `nil` if all bits are zero, which means no trace.
  public init?(high: UInt64, low: UInt64) {
    guard high != 0 || low != 0 else { return nil }
    self.high = high
    self.low = low
  }

  /// 32 lower-case hexadecimal digits.
  public var description: String { self.high.hexadecimal + self.low.hexadecimal }
}

extension UInt64 {
  /// 16 lower-case hexadecimal digits.
  var hexadecimal: String {
    String(unsafeUninitializedCapacity: 16) { digits in
      for place in 0 ..< 16 {
        let digit = UInt8(truncatingIfNeeded: self >> UInt64(60 - 4 * place)) & 15
        digits[place] = digit < 10 ? 0x30 + digit : 0x57 + digit
      }
      return 16
    }
  }
}
