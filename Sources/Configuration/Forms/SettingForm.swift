/// How values of a setting are written, and which there are.
///
/// A form reads what it writes: `parse(texts(value)) == value`.
struct SettingForm<Value: Sendable & Equatable>: Sendable {
  /// What is said of the values.
  var kind: SettingKind
  /// Reads a value; one text, unless the kind is a list.
  let parse: @Sendable ([String]) throws(SettingRefusal) -> Value
  /// Writes a value; `nil`: there is none.
  let texts: @Sendable (Value) -> [String]?

  /// Values that are one text.
  init(
    _ kind: SettingKind, parse: @escaping @Sendable (String) throws(SettingRefusal) -> Value,
    text: @escaping @Sendable (Value) -> String
  ) {
    self.kind = kind
    self.parse = { texts throws(SettingRefusal) in
      guard let first = texts.first, texts.count == 1 else {
        throw SettingRefusal("one value is expected")
      }
      guard !first.isEmpty else { throw SettingRefusal("a value is expected") }
      return try parse(first)
    }
    self.texts = { [text($0)] }
  }

  /// Any values.
  init(
    _ kind: SettingKind, parse: @escaping @Sendable ([String]) throws(SettingRefusal) -> Value,
    texts: @escaping @Sendable (Value) -> [String]?
  ) {
    self.kind = kind
    self.parse = parse
    self.texts = texts
  }

  /// Values that may be left out.
  ///
  /// - Parameter none: What that means: `the system's`.
  func optional(none: String) -> SettingForm<Value?> {
    var kind = self.kind
    kind.none = none
    return SettingForm<Value?>(
      kind, parse: { texts throws(SettingRefusal) in try self.parse(texts) },
      texts: { $0.flatMap(self.texts) })
  }

  /// Values among which 0 stands for none.
  ///
  /// - Parameter none: What that means: `never`.
  func orZero(_ none: String) -> SettingForm<Value?> {
    var kind = self.kind
    kind.range = (kind.range.map { "\($0), or " } ?? "") + "0: \(none)"
    let range = kind.range ?? ""
    return SettingForm<Value?>(
      kind,
      parse: { texts throws(SettingRefusal) in
        if texts.count == 1, Double(texts[0]) == 0 { return nil }
        do throws(SettingRefusal) {
          return try self.parse(texts)
        } catch {
          throw error.reason.hasPrefix("the range")
            ? SettingRefusal("the range is \(range)") : error
        }
      },
      texts: { $0.flatMap(self.texts) ?? ["0"] })
  }

  /// Several values.
  ///
  /// - Parameter atLeast: How many there must be.
  func list(atLeast minimum: Int = 0) -> SettingForm<[Value]> {
    var kind = self.kind
    kind.isList = true
    return SettingForm<[Value]>(
      kind,
      parse: { texts throws(SettingRefusal) in
        guard texts.count >= minimum else {
          throw SettingRefusal("at least \(minimum) is expected")
        }
        var values: [Value] = []
        for text in texts { values.append(try self.parse([text])) }
        return values
      },
      texts: { $0.flatMap { self.texts($0) ?? [] } })
  }
}
