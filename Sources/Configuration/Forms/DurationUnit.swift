/// Units of durations, in microseconds.
enum DurationUnit: Int64, CaseIterable {
  case hour = 3_600_000_000
  case minute = 60_000_000
  case second = 1_000_000
  case millisecond = 1000
  case microsecond = 1

  var name: String {
    switch self {
    case .hour: "h"
    case .minute: "min"
    case .second: "s"
    case .millisecond: "ms"
    case .microsecond: "us"
    }
  }

  /// Parses a number with or without a unit, to the microsecond. `nil` if it is invalid.
  static func parse(_ text: String) -> Duration? {
    // The longest name first: `ms` ends in `s`.
    let unit = Self.allCases.sorted { $0.name.count > $1.name.count }
      .first { text.hasSuffix($0.name) }
    let number = text.dropLast(unit?.name.count ?? 0)
    guard let count = Double(number.last == " " ? number.dropLast() : number) else { return nil }
    let microseconds = count * Double((unit ?? .second).rawValue)
    guard abs(microseconds) < 1e18 else { return nil }
    return .microseconds(Int64(microseconds.rounded()))
  }

  /// Returns the duration in the largest unit of which it is a multiple.
  static func text(of duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    guard microseconds != 0 else { return "0s" }
    let unit = Self.allCases.first { microseconds.isMultiple(of: $0.rawValue) } ?? .microsecond
    return "\(microseconds / unit.rawValue)\(unit.name)"
  }
}
