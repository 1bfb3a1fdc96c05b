import Foundation
public import SidelightKernels
public import SidelightWire

/// A rule about the filters that callers or participants may use.
///
/// Of the rules without ``participants`` the first match for a caller applies to it. Of the rules
/// with ``participants`` the first match applies to a participant, in addition to the rule for its
/// caller. If rules of a kind exist but do not match, all filters are refused.
public struct PermissionRule: Sendable, Hashable {
  /// The names of callers, or prefixes that end in `*`. An empty list matches all callers.
  public var callers: [NamePattern]
  /// The names of participants, or prefixes that end in `*`. A rule with an empty list applies to
  /// callers.
  public var participants: [NamePattern]
  /// The scopes of which a caller has at least one. An empty set matches all callers. A caller that
  /// is not authenticated has all scopes.
  public var scopes: Set<Scope>
  /// The permitted filters.
  public var filters: FilterNameList
  /// The permitted ranges of parameters. Parameters without a range are unlimited.
  public var parameters: [ParameterRange]

  /// Creates a rule.
  ///
  /// - Parameters:
  ///   - callers: The callers; all by default.
  ///   - participants: The participants; empty by default.
  ///   - scopes: The scopes of callers; any by default.
  ///   - filters: The permitted filters.
  ///   - parameters: The permitted ranges of parameters.
  public init(
    callers: [NamePattern] = [], participants: [NamePattern] = [], scopes: Set<Scope> = [],
    filters: FilterNameList, parameters: [ParameterRange] = []
  ) {
    self.callers = callers
    self.participants = participants
    self.scopes = scopes
    self.filters = filters
    self.parameters = parameters
  }

  func matches(_ caller: Caller) -> Bool {
    let hasScope =
      self.scopes.isEmpty
      || caller.principal.map { !$0.scopes.isDisjoint(with: self.scopes) } ?? true
    return hasScope
      && (self.callers.isEmpty || self.callers.contains { $0.matches(caller.name) })
  }

  func matchesParticipant(of caller: Caller) -> Bool {
    self.participants.contains { $0.matches(caller.participant) } && self.matches(caller)
  }
}

extension [PermissionRule] {
  /// Checks that the ranges of all rules apply to parameters of a catalogue.
  ///
  /// - Throws: `ConfigurationError` that names the rule and the range.
  func validate(with catalogue: FilterCatalogue) throws(ConfigurationError) {
    for (index, rule) in self.enumerated() {
      for range in rule.parameters {
        guard let error = range.error(in: catalogue) else { continue }
        throw ConfigurationError(
          setting: "permissions[\(index)].parameters", value: "\(range), which \(error)",
          range: ParameterRange.form)
      }
    }
  }
}

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
        guard let value = value.removingPercentEncoding else {
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
    let codes: [Unicode.Scalar: String] = ["%": "%25", "+": "%2B", ",": "%2C", " ": "%20"]
    return value.unicodeScalars.map { codes[$0] ?? String($0) }.joined()
  }
}
