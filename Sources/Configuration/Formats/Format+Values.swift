import SidelightServer

extension Format {
  /// An integer.
  ///
  /// - Parameter unit: The unit: `sessions`.
  static func count(_ range: ClosedRange<Int>, of unit: String? = nil) -> SettingFormat<Int> {
    let kind = SettingKind(
      type: "integer", unit: unit, range: "\(range.lowerBound) to \(range.upperBound)",
      isCount: true)
    return SettingFormat(
      kind,
      parse: { text throws(InvalidSettingValue) in
        // A number with too many digits is out of range, not invalid.
        let isNumber = text.drop { $0 == "-" || $0 == "+" }.allSatisfy {
          ("0" ... "9").contains($0)
        }
        guard isNumber else { throw InvalidSettingValue("expected an integer") }
        return try kind.checked(Int(text), in: range)
      },
      text: { "\($0)" })
  }

  /// A size in bytes: `64MiB`, `512KiB`, `65536`.
  ///
  /// - Parameter plain: The unit of a number without a unit, in bytes.
  static func size(_ range: ClosedRange<Int>, plain: Int = 1) -> SettingFormat<Int> {
    let text: @Sendable (Int) -> String = { ByteUnit.text(of: $0, plain: plain) }
    let kind = SettingKind(
      type: "size", unit: plain == 1 ? "bytes" : "MiB",
      range: "\(text(range.lowerBound)) to \(text(range.upperBound))")
    return SettingFormat(
      kind,
      parse: { text throws(InvalidSettingValue) in
        guard let value = ByteUnit.parse(text, plain: plain) else {
          throw InvalidSettingValue("expected a size such as 512KiB, 64MiB or 2GiB")
        }
        return try kind.checked(value, in: range)
      },
      text: text)
  }

  /// A number.
  static func ratio(_ range: ClosedRange<Double>) -> SettingFormat<Double> {
    let kind = SettingKind(
      type: "number",
      range: "\(range.lowerBound.shortText) to \(range.upperBound.shortText)")
    return SettingFormat(
      kind,
      parse: { text throws(InvalidSettingValue) in
        guard let value = Double(text), !value.isNaN else {
          throw InvalidSettingValue("expected a number")
        }
        return try kind.checked(value, in: range)
      },
      text: \.shortText)
  }

  /// A duration: `500ms`, `10s`, `5min`, `1h`; a number alone is seconds. Exact to a microsecond.
  static func duration(_ range: ClosedRange<Duration>) -> SettingFormat<Duration> {
    let kind = SettingKind(
      type: "duration", unit: "s",
      range:
        "\(DurationUnit.text(of: range.lowerBound)) to \(DurationUnit.text(of: range.upperBound))")
    return SettingFormat(
      kind,
      parse: { text throws(InvalidSettingValue) in
        guard let value = DurationUnit.parse(text) else {
          throw InvalidSettingValue("expected a duration such as 500ms, 10s, 5min or 1h")
        }
        return try kind.checked(value, in: range)
      },
      text: DurationUnit.text(of:))
  }
}

extension SettingKind {
  fileprivate func checked<Value: Comparable>(
    _ value: Value?, in range: ClosedRange<Value>
  ) throws(InvalidSettingValue) -> Value {
    guard let value, range.contains(value) else {
      throw InvalidSettingValue("the range is \(self.range ?? "")")
    }
    return value
  }
}

extension Double {
  /// The number, without a fraction if it is an integer: `2`, `0.5`.
  fileprivate var shortText: String { Int(exactly: self).map(String.init) ?? "\(self)" }
}

/// Units of sizes in bytes.
private enum ByteUnit {
  private static let all = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]

  /// Parses a number with or without a unit. `nil` if it is invalid or overflows.
  static func parse(_ text: String, plain: Int) -> Int? {
    let (name, unit) = Self.all.first { text.hasSuffix($0.0) } ?? ("", plain)
    let number = text.dropLast(name.count)
    guard let count = Int(number.last == " " ? number.dropLast() : number) else { return nil }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: unit)
    return overflow ? nil : bytes
  }

  /// Returns the number in the largest unit of which it is a multiple.
  static func text(of bytes: Int, plain: Int = 1) -> String {
    guard bytes != 0, let (name, unit) = Self.all.first(where: { bytes.isMultiple(of: $0.1) })
    else { return "\(bytes / plain)" }
    return "\(bytes / unit)\(name)"
  }
}

/// Units of durations, in microseconds.
private enum DurationUnit {
  private static let all: [(name: String, microseconds: Int64)] = [
    ("h", 3_600_000_000), ("min", 60_000_000), ("s", 1_000_000), ("ms", 1000), ("us", 1),
  ]

  /// Parses a number with or without a unit, to the microsecond. `nil` if it is invalid.
  static func parse(_ text: String) -> Duration? {
    // The longest name first: `ms` ends in `s`.
    let unit =
      Self.all.sorted { $0.name.count > $1.name.count }.first { text.hasSuffix($0.name) }
      ?? ("", 1_000_000)
    let number = text.dropLast(unit.name.count)
    guard let count = Double(number.last == " " ? number.dropLast() : number) else { return nil }
    let microseconds = count * Double(unit.microseconds)
    guard abs(microseconds) < 1e18 else { return nil }
    return .microseconds(Int64(microseconds.rounded()))
  }

  /// Returns the duration in the largest unit of which it is a multiple.
  static func text(of duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    guard microseconds != 0 else { return "0s" }
    let unit = Self.all.first { microseconds.isMultiple(of: $0.microseconds) } ?? ("us", 1)
    return "\(microseconds / unit.microseconds)\(unit.name)"
  }
}

extension Format {
  /// A path.
  ///
  /// - Parameter maxBytes: The maximum length in bytes.
  static func path(maxBytes: Int = 4096) -> SettingFormat<String> {
    Self.text(type: "path", maxBytes: maxBytes)
  }

  /// A free text.
  ///
  /// - Parameters:
  ///   - type: The type to show.
  ///   - maxBytes: The maximum length in bytes.
  static func text(type: String = "text", maxBytes: Int) -> SettingFormat<String> {
    let kind = SettingKind(type: type, range: "1 to \(maxBytes) bytes")
    return SettingFormat(
      kind,
      parse: { text throws(InvalidSettingValue) in
        guard (1 ... maxBytes).contains(text.utf8.count) else {
          throw InvalidSettingValue("it has \(text.utf8.count) bytes; the limit is \(maxBytes)")
        }
        return text
      },
      text: { $0 })
  }

  /// A Boolean.
  static var toggle: SettingFormat<Bool> {
    SettingFormat(
      SettingKind(type: "boolean", range: "true or false", isSwitch: true),
      parse: { text throws(InvalidSettingValue) in
        switch text.lowercased() {
        case "true", "yes", "on", "1": return true
        case "false", "no", "off", "0": return false
        default: throw InvalidSettingValue("expected true or false")
        }
      },
      text: { $0 ? "true" : "false" })
  }

  /// An address to listen on.
  static var address: SettingFormat<Address> {
    SettingFormat(
      SettingKind(type: "address", range: "IP:PORT or unix:PATH"),
      parse: { text throws(InvalidSettingValue) in
        do throws(AddressError) {
          return try Address(text)
        } catch {
          throw InvalidSettingValue(error.reason)
        }
      },
      text: \.description)
  }

  /// A TCP address to listen on.
  static var tcpAddress: SettingFormat<Address> {
    let address = Self.address
    return SettingFormat(
      SettingKind(type: "address", range: "IP:PORT"),
      parse: { text throws(InvalidSettingValue) in
        let value = try address.parse([text])
        guard case .tcp = value else { throw InvalidSettingValue("expected IP:PORT") }
        return value
      },
      text: \.description)
  }

  /// File permissions, in octal: `660`, `0660`.
  static var mode: SettingFormat<UInt16> {
    SettingFormat(
      SettingKind(type: "permissions", unit: "octal", range: "0 to 777"),
      parse: { text throws(InvalidSettingValue) in
        guard let mode = UInt16(text.hasPrefix("0o") ? text.dropFirst(2) : text[...], radix: 8),
          mode <= 0o777
        else { throw InvalidSettingValue("the range is 0 to 777, in octal") }
        return mode
      },
      text: { String($0, radix: 8) })
  }

  /// A user ID.
  static var userID: SettingFormat<UInt32> {
    SettingFormat(
      SettingKind(type: "user ID", range: "0 to \(UInt32.max - 1)"),
      parse: { text throws(InvalidSettingValue) in
        guard let number = UInt32(text), number < UInt32.max else {
          throw InvalidSettingValue("expected a user ID from 0 to \(UInt32.max - 1)")
        }
        return number
      },
      text: { "\($0)" })
  }

  /// One of the raw values of a type.
  static func choice<Value>(_ type: Value.Type = Value.self) -> SettingFormat<Value>
  where
    Value: RawRepresentable & CaseIterable & Sendable & Equatable, Value.RawValue == String
  {
    let names = Value.allCases.map(\.rawValue)
    let list =
      names.count < 2
      ? names.joined() : names.dropLast().joined(separator: ", ") + " or \(names.last ?? "")"
    return SettingFormat(
      SettingKind(type: "choice", range: list),
      parse: { text throws(InvalidSettingValue) in
        guard let value = Value(rawValue: text) else {
          let nearest = Spelling.nearest(to: text, among: names)
          throw InvalidSettingValue(
            "expected \(list)" + (nearest.map { "; did you mean \($0)?" } ?? ""))
        }
        return value
      },
      text: \.rawValue)
  }
}
