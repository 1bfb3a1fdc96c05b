/// The environment variables that begin with `SIDELIGHT_`.
struct EnvironmentSource {
  /// The variable that names the file.
  static let fileVariable = "SIDELIGHT_CONFIG"
  /// The variables read by kernels, tests and benchmarks.
  private static let others: Set<String> = [
    Self.fileVariable, "SIDELIGHT_ISA", "SIDELIGHT_BINARY", "SIDELIGHT_GOLDENS",
  ]
  private static let otherPrefixes = ["SIDELIGHT_TEST_", "SIDELIGHT_MODEL_", "SIDELIGHT_BENCH_"]

  private let variables: [String: String]

  init(_ environment: [String: String]) {
    self.variables = environment.filter { $0.key.hasPrefix(Setting.variablePrefix) }
  }

  /// The path of the settings file, if a variable names one.
  var file: String? { self.variables[Self.fileVariable].flatMap { $0.isEmpty ? nil : $0 } }

  /// The variables as a source of values. Commas separate the elements of lists.
  var layer: SettingLayer {
    var values: [String: [String]] = [:]
    var names: [String: String] = [:]
    for setting in SettingTable.all {
      // The current name takes precedence.
      let keys = [setting.key] + setting.formerKeys
      guard let name = keys.map(Setting.variable).first(where: { self.variables[$0] != nil }),
        let text = self.variables[name]
      else { continue }
      values[setting.key] = setting.kind.isList ? Self.elements(of: text) : [text]
      names[setting.key] = name
    }
    return SettingLayer(values: values) { [names] in
      .environment(names[$0.key] ?? $0.variable)
    }
  }

  /// The warnings of variables that have new names.
  var warnings: [String] {
    SettingTable.all.flatMap { setting in
      setting.formerKeys.map(Setting.variable).filter { self.variables[$0] != nil }
        .map { "\($0) is now \(setting.variable)" }
    }
  }

  /// Splits a text at its commas, and removes space around the elements.
  private static func elements(of text: String) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false).map { element in
      let start = element.drop(while: \.isWhitespace)
      guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
      return String(start[...last])
    }
  }

  /// The errors of unknown and removed variables.
  var errors: [SettingError] {
    self.variables.keys.filter { !Self.isKnown($0) }.sorted().map { name in
      if let removed = SettingTable.removed.first(where: { Setting.variable(of: $0.key) == name }) {
        return SettingError(removed, named: name)
      }
      return SettingError(unknown: name, nearest: Self.nearest(to: name))
    }
  }

  private static func isKnown(_ name: String) -> Bool {
    SettingTable.all.contains { ([$0.key] + $0.formerKeys).map(Setting.variable).contains(name) }
      || Self.others.contains(name)
      || Self.otherPrefixes.contains(where: name.hasPrefix) || Self.isServiceLink(name)
  }

  private static func nearest(to name: String) -> String? {
    let prefix = Setting.variablePrefix
    let rest = String(name.dropFirst(prefix.count))
    let known = SettingTable.all.map { String($0.variable.dropFirst(prefix.count)) }
    if let nearest = Spelling.nearest(to: rest, among: known) { return prefix + nearest }
    // If the section is missing, the rest identifies the setting.
    let key = rest.lowercased().replacing("_", with: "-")
    return SettingTable.nearestKey(to: key).flatMap { SettingTable.setting($0)?.variable }
  }

  /// Returns whether Kubernetes sets the variable for a service whose name begins with `sidelight`:
  /// `SIDELIGHT_SERVICE_HOST`, `SIDELIGHT_SERVICE_PORT_GRPC`, `SIDELIGHT_PORT_50051_TCP_ADDR`.
  private static func isServiceLink(_ name: String) -> Bool {
    name.wholeMatch(
      of: /.*_SERVICE_(HOST|PORT(_.*)?)|.*_PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?/)
      != nil
  }
}
