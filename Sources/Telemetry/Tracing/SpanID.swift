/// The 64 bits that name a span within its trace; never all zero.
public struct SpanID: Sendable, Hashable, CustomStringConvertible {
  /// The bits, in the order in which they are written.
  public let bits: UInt64

  /// - Returns: `nil` if all bits are zero, which stands for no span.
  public init?(_ bits: UInt64) {
    guard bits != 0 else { return nil }
    self.bits = bits
  }

  /// 16 lower-case hexadecimal digits.
  public var description: String { self.bits.hexadecimal }
}
