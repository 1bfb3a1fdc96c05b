/// The text format of a setting's values, and their valid range.
///
/// Law: `parse(texts(value)) == value`.
struct SettingFormat<Value: Sendable & Equatable>: Sendable {
  /// The description of the values.
  var kind: SettingKind
  /// Parses a value: one text, or several if the kind is a list.
  let parse: @Sendable ([String]) throws(InvalidSettingValue) -> Value
  /// Formats a value, if any.
  let texts: @Sendable (Value) -> [String]?
  /// The conversion of mappings in files to texts. `nil` if only texts are valid.
  var mapping: SettingMapping?

  /// Creates a format of values that consist of one text.
  init(
    _ kind: SettingKind, parse: @escaping @Sendable (String) throws(InvalidSettingValue) -> Value,
    text: @escaping @Sendable (Value) -> String
  ) {
    self.kind = kind
    self.parse = { texts throws(InvalidSettingValue) in
      guard let first = texts.first, texts.count == 1 else {
        throw InvalidSettingValue("expected one value")
      }
      guard !first.isEmpty else { throw InvalidSettingValue("expected a value") }
      return try parse(first)
    }
    self.texts = { [text($0)] }
  }

  /// Creates a format of values that consist of any number of texts.
  init(
    _ kind: SettingKind, parse: @escaping @Sendable ([String]) throws(InvalidSettingValue) -> Value,
    texts: @escaping @Sendable (Value) -> [String]?
  ) {
    self.kind = kind
    self.parse = parse
    self.texts = texts
  }

  /// Returns a format of optional values.
  ///
  /// - Parameter none: The meaning of a missing value: `chosen by the system`.
  func optional(none: String) -> SettingFormat<Value?> {
    var kind = self.kind
    kind.none = none
    return SettingFormat<Value?>(
      kind, parse: { texts throws(InvalidSettingValue) in try self.parse(texts) },
      texts: { $0.flatMap(self.texts) })
  }

  /// Returns a format of optional values in which 0 means `nil`.
  ///
  /// - Parameter none: The meaning of 0: `never`.
  func orZero(_ none: String) -> SettingFormat<Value?> {
    var kind = self.kind
    kind.range = (kind.range.map { "\($0), or " } ?? "") + "0: \(none)"
    let range = kind.range ?? ""
    return SettingFormat<Value?>(
      kind,
      parse: { texts throws(InvalidSettingValue) in
        if texts.count == 1, Double(texts[0]) == 0 { return nil }
        do throws(InvalidSettingValue) {
          return try self.parse(texts)
        } catch {
          throw error.reason.hasPrefix("the range")
            ? InvalidSettingValue("the range is \(range)") : error
        }
      },
      texts: { $0.flatMap(self.texts) ?? ["0"] })
  }

  /// Returns a format of lists.
  func list(atLeast minimum: Int = 0) -> SettingFormat<[Value]> {
    var kind = self.kind
    kind.isList = true
    var list = SettingFormat<[Value]>(
      kind,
      parse: { texts throws(InvalidSettingValue) in
        guard texts.count >= minimum else {
          throw InvalidSettingValue("expected at least \(minimum) value\(minimum == 1 ? "" : "s")")
        }
        var values: [Value] = []
        for text in texts { values.append(try self.parse([text])) }
        return values
      },
      texts: { $0.flatMap { self.texts($0) ?? [] } })
    list.mapping = self.mapping
    return list
  }
}

/// The form of a list's elements as mappings in files.
struct SettingMapping: Sendable {
  let fields: [String]
  /// The fields that also take a list of scalars.
  let listFields: Set<String>
  /// The fields that also take a mapping of names to scalars. An entry is a value `NAME:SCALAR`.
  let mapFields: Set<String>
  /// Returns the text of an element from the values of its fields.
  let text: @Sendable ([String: [String]]) throws(InvalidSettingValue) -> String

  /// Creates the form of elements whose fields are scalars.
  init(
    fields: [String],
    text: @escaping @Sendable ([String: String]) throws(InvalidSettingValue) -> String
  ) {
    self.init(fields: fields, listFields: []) { values throws(InvalidSettingValue) in
      try text(values.compactMapValues(\.first))
    }
  }

  /// Creates the form of elements some of whose fields are lists.
  init(
    fields: [String], listFields: Set<String>, mapFields: Set<String> = [],
    text: @escaping @Sendable ([String: [String]]) throws(InvalidSettingValue) -> String
  ) {
    self.fields = fields
    self.listFields = listFields
    self.mapFields = mapFields
    self.text = text
  }
}

/// The namespace of the formats of settings.
enum Format {}
