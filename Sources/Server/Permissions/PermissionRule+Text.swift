import SidelightKernels
public import SidelightWire

extension PermissionRule: CustomStringConvertible {
  /// The names of the fields in text and in files.
  package static let fieldNames = ["callers", "participants", "scopes", "filters", "parameters"]

  /// The form of the text.
  package static let form =
    "FIELD=VALUE+VALUE, separated by spaces, of \(Self.fieldNames.joined(separator: ", "))"

  /// Parses a rule: `participants=guest* filters=sepiaTone+background*
  /// parameters=pixellate.scale:8...64`.
  ///
  /// Spaces separate fields, and `+` separates values. In values, `%2B` is a plus sign, `%20` a
  /// space, `%2C` a comma and `%25` a percent sign.
  ///
  /// - Throws: `ConfigurationError` with the expected form, as `init(fields:)`.
  public init(_ text: String) throws(ConfigurationError) {
    var fields: [String: [String]] = [:]
    for field in text.split(separator: " ") {
      guard let equals = field.firstIndex(of: "=") else {
        throw ConfigurationError(setting: "permissions", value: text, range: Self.form)
      }
      let name = String(field[..<equals])
      guard fields[name] == nil else {
        throw ConfigurationError(
          setting: "permissions", value: text, range: "each field once; \(name) is set twice")
      }
      var values: [String] = []
      for value in field[field.index(after: equals)...].split(separator: "+") {
        guard let value = Self.unescaped(value) else {
          throw ConfigurationError(
            setting: "permissions", value: text,
            range: "values in which two hexadecimal digits follow each %")
        }
        values.append(value)
      }
      fields[name] = values
    }
    try self.init(fields: fields)
  }

  /// Creates a rule from the values of its fields. A rule without the field `filters` permits all
  /// filters, within the ranges of its parameters.
  ///
  /// - Throws: `ConfigurationError` that names the field, and the expectation in `range`.
  package init(fields: [String: [String]]) throws(ConfigurationError) {
    for name in fields.keys.sorted() where !Self.fieldNames.contains(name) {
      let hint = Spelling.nearest(to: name, among: Self.fieldNames)
        .map { "; did you mean \($0)?" }
      throw ConfigurationError(
        setting: name, value: "unknown",
        range: "one of \(Self.fieldNames.joined(separator: ", "))\(hint ?? "")")
    }
    guard fields["filters"] != nil || fields["parameters"] != nil else {
      throw ConfigurationError(
        setting: "filters", value: "missing", range: "a list of filters, or * for all")
    }
    for name in ["callers", "participants", "scopes"] where fields[name]?.isEmpty == true {
      throw ConfigurationError(
        setting: name, value: "empty", range: "at least one value; leave it out to match all")
    }
    var scopes: Set<Scope> = []
    for name in fields["scopes"] ?? [] {
      guard let scope = Scope(rawValue: name) else {
        throw ConfigurationError(
          setting: "scopes", value: name,
          range: Scope.allCases.map(\.rawValue).joined(separator: ", "))
      }
      scopes.insert(scope)
    }
    let filters: FilterNameList
    do throws(FilterNameError) {
      filters =
        try fields["filters"].map { names throws(FilterNameError) in
          try FilterNameList(names)
        } ?? .all
    } catch {
      throw ConfigurationError(
        setting: "filters[\(error.index)]", value: "invalid: it \(error.reason)",
        range: "a name, or a prefix that ends in *")
    }
    var parameters: [ParameterRange] = []
    for text in fields["parameters"] ?? [] {
      guard let range = ParameterRange(text) else {
        throw ConfigurationError(setting: "parameters", value: text, range: ParameterRange.form)
      }
      parameters.append(range)
    }
    self.init(
      callers: (fields["callers"] ?? []).map(NamePattern.init),
      participants: (fields["participants"] ?? []).map(NamePattern.init), scopes: scopes,
      filters: filters, parameters: parameters)
  }

  /// The text that ``init(_:)`` parses.
  public var description: String { Self.text(of: self.fields) }

  /// Returns the text of a rule with the given fields.
  package static func text(of fields: [String: [String]]) -> String {
    self.fieldNames.compactMap { name in
      fields[name].map { "\(name)=\($0.map(Self.escaped).joined(separator: "+"))" }
    }
    .joined(separator: " ")
  }

  private var fields: [String: [String]] {
    var fields = ["filters": self.filters.entries]
    if !self.callers.isEmpty { fields["callers"] = self.callers.map(\.text) }
    if !self.participants.isEmpty { fields["participants"] = self.participants.map(\.text) }
    if !self.scopes.isEmpty { fields["scopes"] = self.scopes.sorted().map(\.rawValue) }
    if !self.parameters.isEmpty { fields["parameters"] = self.parameters.map(\.description) }
    return fields
  }

  private static func escaped(_ value: String) -> String {
    value.unicodeScalars.map { scalar in
      switch scalar {
      case "%": "%25"
      case "+": "%2B"
      case ",": "%2C"
      case " ": "%20"
      default: String(scalar)
      }
    }
    .joined()
  }

  private static func unescaped(_ value: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(value.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2)
      guard digits.count == 2, digits.allSatisfy(Self.isHexadecimal),
        let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(code)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0") ... UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a") ... UInt8(ascii: "f")).contains(byte | 0x20)
  }
}
