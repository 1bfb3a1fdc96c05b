/// The environment variables that begin with `SIDELIGHT_`.
struct EnvironmentSource {
  /// The variable that names the file.
  static let fileVariable = "SIDELIGHT_CONFIG"
  /// The variables that the kernels, tests and benchmarks read.
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
    for setting in SettingTable.all {
      guard let text = self.variables[setting.variable] else { continue }
      values[setting.key] = setting.kind.isList ? Self.elements(of: text) : [text]
    }
    return SettingLayer(values: values) { .environment($0.variable) }
  }

  /// Splits a text at its commas, and removes space around the elements.
  private static func elements(of text: String) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false).map { element in
      let start = element.drop(while: \.isWhitespace)
      guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
      return String(start[...last])
    }
  }

  /// The errors of unknown variables.
  var errors: [SettingError] {
    self.variables.keys.filter { !Self.isKnown($0) }.sorted().map { name in
      SettingError(unknown: name, nearest: Self.nearest(to: name))
    }
  }

  private static func isKnown(_ name: String) -> Bool {
    SettingTable.all.contains { $0.variable == name } || Self.others.contains(name)
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
