/// The 64-bit ID of a span within its trace; never zero.
public struct SpanID: Sendable, Hashable, CustomStringConvertible {
  /// The bits, in the order of the text form.
  public let bits: UInt64

  /// - Returns: `nil` if all bits are zero, which means no span.
  public init?(_ bits: UInt64) {
    guard bits != 0 else { return nil }
    self.bits = bits
  }

  /// 16 lower-case hexadecimal digits.
  public var description: String { self.bits.hexadecimal }
}
