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
        guard let value = Int(text), range.contains(value) else {
          throw InvalidSettingValue("the range is \(kind.range ?? "")")
        }
        return value
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
        guard range.contains(value) else {
          throw InvalidSettingValue("the range is \(kind.range ?? "")")
        }
        return value
      },
      text: text)
  }
}

extension Format {
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
        guard range.contains(value) else {
          throw InvalidSettingValue("the range is \(kind.range ?? "")")
        }
        return value
      },
      text: \.shortText)
  }
}

extension Format {
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
        guard range.contains(value) else {
          throw InvalidSettingValue("the range is \(kind.range ?? "")")
        }
        return value
      },
      text: DurationUnit.text(of:))
  }
}

extension Double {
  /// The number, without a fraction if it is an integer: `2`, `0.5`.
  var shortText: String { Int(exactly: self).map(String.init) ?? "\(self)" }
}
