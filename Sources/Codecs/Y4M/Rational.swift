/// A ratio of whole numbers: frames a second, or a pixel's width to its height.
public struct Rational: Sendable, Hashable, CustomStringConvertible {
  /// At least 1.
  public let numerator: Int
  /// At least 1.
  public let denominator: Int

  /// `nil` unless both are 1 ... 2,147,483,647. The ratio is not reduced.
  public init?(_ numerator: Int, _ denominator: Int) {
    let range = 1 ... Int(Int32.max)
    guard range.contains(numerator), range.contains(denominator) else { return nil }
    self.numerator = numerator
    self.denominator = denominator
  }

  /// The ratio as a number.
  public var value: Double { Double(self.numerator) / Double(self.denominator) }

  /// `30000:1001`.
  public var description: String { "\(self.numerator):\(self.denominator)" }
}
