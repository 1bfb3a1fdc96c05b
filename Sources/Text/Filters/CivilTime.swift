#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A date and a time of day in the Gregorian calendar.
package struct CivilTime: Sendable, Hashable {
  package let year, month, day: Int
  /// 0 to 23.
  package let hour: Int
  package let minute, second: Int
  package let nanosecond: Int
  /// The days since January 1, which is 0.
  package let dayOfYear: Int
  /// The seconds since the start of 1970 in UTC, rounded down.
  package let unixSeconds: Int
  /// The clock's offset from UTC in seconds.
  package let utcOffset: Int

  /// Converts a time.
  ///
  /// - Parameters:
  ///   - nanoseconds: The time since the start of 1970 in UTC.
  ///   - utcOffset: The clock's offset from UTC in seconds.
  package init(nanoseconds: Int64, utcOffset: Int) {
    let total = Int(nanoseconds)
    let rest = total % 1_000_000_000
    self.unixSeconds = total / 1_000_000_000 - (rest < 0 ? 1 : 0)
    self.nanosecond = rest < 0 ? rest + 1_000_000_000 : rest
    self.utcOffset = utcOffset
    var local = time_t(self.unixSeconds + utcOffset)
    var date = unsafe tm()
    unsafe gmtime_r(&local, &date)
    let fields = unsafe [
      date.tm_year, date.tm_mon, date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec, date.tm_yday,
    ].map { Int($0) }
    (self.year, self.month, self.day) = (fields[0] + 1900, fields[1] + 1, fields[2])
    (self.hour, self.minute, self.second) = (fields[3], fields[4], fields[5])
    self.dayOfYear = fields[6]
  }
}

/// A format of dates and times, after the function `strftime` of C.
package struct TimeFormat: Sendable, Hashable {
  /// A format that cannot be read.
  package struct Invalid: Error, Sendable, Hashable {
    /// The error as a clause.
    package let reason: String
  }

  private enum Part: Sendable, Hashable {
    case literal(String)
    case conversion(Unicode.Scalar)
  }

  /// `%F` and `%T` are short forms of others.
  private static let conversions = "YymdHIMSpjLfzs"

  private let parts: [Part]

  /// Reads a format.
  ///
  /// - Throws: ``Invalid`` for an unknown conversion.
  package init(_ format: String) throws(Invalid) {
    var parts: [Part] = []
    var literal = ""
    var characters = format.unicodeScalars[...]
    while let character = characters.popFirst() {
      guard character == "%" else {
        literal.unicodeScalars.append(character)
        continue
      }
      guard let conversion = characters.popFirst() else {
        throw Invalid(reason: "has a format that ends with \"%\"")
      }
      if conversion == "%" {
        literal += "%"
        continue
      }
      let expanded: String
      switch conversion {
      case "F": expanded = "Y-m-d"
      case "T": expanded = "H:M:S"
      default: expanded = String(conversion)
      }
      for scalar in expanded.unicodeScalars {
        if Self.conversions.unicodeScalars.contains(scalar) {
          if !literal.isEmpty { parts.append(.literal(literal)) }
          literal = ""
          parts.append(.conversion(scalar))
        } else if expanded.unicodeScalars.count > 1 {
          literal.unicodeScalars.append(scalar)
        } else {
          throw Invalid(
            reason: "has the unknown conversion \"%\(conversion)\"; there are "
              + Self.conversions.map { "%\($0)" }.joined(separator: " ") + " %F %T %%")
        }
      }
    }
    if !literal.isEmpty { parts.append(.literal(literal)) }
    self.parts = parts
  }

  /// Whether the text changes more often than once per second.
  package var hasFractions: Bool {
    self.parts.contains(.conversion("L")) || self.parts.contains(.conversion("f"))
  }

  package func text(_ time: CivilTime) -> String {
    self.parts.map { part in
      switch part {
      case .literal(let literal): literal
      case .conversion(let conversion): Self.text(conversion, time)
      }
    }.joined()
  }

  private static func text(_ conversion: Unicode.Scalar, _ time: CivilTime) -> String {
    switch conversion {
    case "Y": "\(time.year)"
    case "y": Self.digits(time.year - time.year / 100 * 100, 2)
    case "m": Self.digits(time.month, 2)
    case "d": Self.digits(time.day, 2)
    case "H": Self.digits(time.hour, 2)
    case "I": Self.digits((time.hour + 11) % 12 + 1, 2)
    case "M": Self.digits(time.minute, 2)
    case "S": Self.digits(time.second, 2)
    case "p": time.hour < 12 ? "AM" : "PM"
    case "j": Self.digits(time.dayOfYear + 1, 3)
    case "L": Self.digits(time.nanosecond / 1_000_000, 3)
    case "f": Self.digits(time.nanosecond / 1000, 6)
    case "s": "\(time.unixSeconds)"
    default:
      (time.utcOffset < 0 ? "-" : "+") + Self.digits(abs(time.utcOffset) / 3600, 2)
        + Self.digits(abs(time.utcOffset) / 60 % 60, 2)
    }
  }

  /// Returns a number with zeros in front.
  static func digits(_ number: Int, _ count: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }
}
