/// The environment variables that begin with `SIDELIGHT_`.
struct EnvironmentSource {
  /// The variable that names the file.
  static let fileVariable = "SIDELIGHT_CONFIG"
  /// Those that are read elsewhere: by the kernels, and by tests and benchmarks that start servers.
  private static let others: Set<String> = [
    Self.fileVariable, "SIDELIGHT_ISA", "SIDELIGHT_BINARY", "SIDELIGHT_GOLDENS",
  ]
  private static let otherPrefixes = ["SIDELIGHT_TEST_", "SIDELIGHT_MODEL_", "SIDELIGHT_BENCH_"]

  let variables: [String: String]

  init(_ environment: [String: String]) {
    self.variables = environment.filter { $0.key.hasPrefix(Setting.variablePrefix) }
  }

  /// The file that is named here, if one is.
  var file: String? { self.variables[Self.fileVariable].flatMap { $0.isEmpty ? nil : $0 } }

  /// The variables as a source of values.
  var layer: SettingLayer { SettingLayer(environment: self.variables) }

  /// Variables that mean nothing.
  var faults: [SettingFault] {
    self.variables.keys.filter { !Self.isKnown($0) }.sorted().map { name in
      SettingFault(unknown: name, nearest: Self.nearest(to: name))
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
    // Where the section was left out, the rest says which is meant.
    let key = rest.lowercased().replacing("_", with: "-")
    return SettingTable.nearestKey(to: key).flatMap { SettingTable.setting($0)?.variable }
  }

  /// Whether Kubernetes made the variable for a service whose name begins with `sidelight`:
  /// `SIDELIGHT_SERVICE_HOST`, `SIDELIGHT_SERVICE_PORT_GRPC`, `SIDELIGHT_PORT_50051_TCP_ADDR`.
  private static func isServiceLink(_ name: String) -> Bool {
    name.wholeMatch(
      of: /.*_SERVICE_(HOST|PORT(_.*)?)|.*_PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?/)
      != nil
  }
}
