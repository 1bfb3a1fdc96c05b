/// A permitted range of a filter's parameter, in text `pixellate.scale:8...64`.
///
/// A range applies to numbers, to every number of a vector, and to lengths. A length must then be
/// stated in pixels, because a relative length is not known before a frame arrives.
public struct ParameterRange: Sendable, Hashable, CustomStringConvertible {
  /// The filter's name.
  public let filter: String
  /// The parameter's name.
  public let parameter: String
  /// The minimum; `-infinity` disables it.
  public let minimum: Double
  /// The maximum; `infinity` disables it.
  public let maximum: Double

  /// The forms of the text.
  public static let form = "FILTER.PARAMETER:MINIMUM...MAXIMUM, one of both optional"

  /// Creates a range. The names may be Core Image's names.
  ///
  /// - Returns: `nil` if `minimum` is greater than `maximum`, or one of them is not a number.
  public init?(
    filter: String, parameter: String, minimum: Double = -.infinity, maximum: Double = .infinity
  ) {
    guard minimum <= maximum else { return nil }
    self.filter = Spelling.canonicalFilter(filter)
    self.parameter = Spelling.canonicalParameter(parameter)
    self.minimum = minimum
    self.maximum = maximum
  }

  /// Parses `pixellate.scale:8...64`, `pixellate.scale:8...` or `pixellate.scale:...64`.
  ///
  /// - Returns: `nil` if the text has another form, or the minimum is greater than the maximum.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let dot = text[..<colon].lastIndex(of: ".") else {
      return nil
    }
    let (filter, parameter) = (text[..<dot], text[text.index(after: dot) ..< colon])
    let ends = text[text.index(after: colon)...]
      .split(separator: "...", omittingEmptySubsequences: false)
    guard !filter.isEmpty, !parameter.isEmpty, ends.count == 2,
      ends.contains(where: { !$0.isEmpty }),
      let minimum = ends[0].isEmpty ? -.infinity : Self.finite(ends[0]),
      let maximum = ends[1].isEmpty ? .infinity : Self.finite(ends[1])
    else { return nil }
    self.init(
      filter: String(filter), parameter: String(parameter), minimum: minimum, maximum: maximum)
  }

  /// The text that ``init(_:)`` parses.
  public var description: String { "\(self.filter).\(self.parameter):\(self.rangeText)" }

  /// The range alone: `8...64`.
  public var rangeText: String {
    let minimum = self.minimum.isFinite ? Self.text(self.minimum) : ""
    let maximum = self.maximum.isFinite ? Self.text(self.maximum) : ""
    return "\(minimum)...\(maximum)"
  }

  func contains(_ number: Double) -> Bool { number >= self.minimum && number <= self.maximum }

  /// Returns the part of another range that this range contains; `nil` if they don't overlap.
  func intersection(_ other: ClosedRange<Double>) -> ClosedRange<Double>? {
    let minimum = max(self.minimum, other.lowerBound)
    let maximum = min(self.maximum, other.upperBound)
    return minimum <= maximum ? minimum ... maximum : nil
  }

  private static func finite(_ text: Substring) -> Double? {
    Double(text).flatMap { $0.isFinite ? $0 : nil }
  }

  private static func text(_ number: Double) -> String {
    Int(exactly: number).map(String.init) ?? "\(number)"
  }
}

extension ParameterRange {
  /// Checks that the range applies to a parameter of a catalogue. A misspelt name would leave a
  /// parameter without its limits.
  ///
  /// - Returns: The error as a clause with the range as its subject; `nil` if the range applies.
  public func error(in catalogue: FilterCatalogue) -> String? {
    func hint(_ name: String?) -> String { name.map { "; did you mean \($0)?" } ?? "" }
    let known =
      catalogue.description(named: self.filter)
      ?? catalogue.unavailableFilter(named: self.filter)?.description
    guard let known else {
      return "names an unknown filter" + hint(catalogue.nearestName(to: self.filter))
    }
    guard let parameter = known.parameters.first(where: { $0.name == self.parameter }) else {
      // The parameters of a kernel's text are known when a pipeline names it.
      if catalogue.entry(named: self.filter)?.parameters != nil { return nil }
      let names = known.parameters.map(\.name)
      return "names an unknown parameter"
        + hint(Spelling.nearest(to: self.parameter, among: names))
    }
    switch parameter.kind {
    case .number, .length, .vector: return nil
    case .point, .color, .flag, .choice, .asset, .text:
      return "names a parameter that takes \(parameter.kind.displayName); ranges apply to numbers, "
        + "lengths and vectors"
    }
  }
}
