/// The arguments of `sidelight serve`: flags of settings, and requests other than serving.
public struct CommandLineSource: Sendable {
  /// The requested action.
  public enum Request: Sendable, Hashable {
    case serve
    /// Show all settings and their origins.
    case printConfiguration
    /// Show the settings as a file that can be read again.
    case printYAML
    /// Show help on the common settings.
    case help
    /// Show help on all settings.
    case helpAll
    /// Show the version.
    case version
  }

  /// The requested action.
  public private(set) var request = Request.serve
  /// The file that `--config` names.
  public private(set) var file: String?
  private var values: [String: [String]] = [:]
  private var flags: [String: String] = [:]
  private(set) var errors: [SettingError] = []
  private(set) var warnings: [String] = []

  /// Reads arguments. Their errors are reported together with all others when the settings are
  /// loaded.
  public init(_ arguments: [String] = []) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let (name, attached) = Self.split(argument)
      switch name {
      case "--help", "-h": self.request = .help
      case "--help-all": self.request = .helpAll
      case "--version": self.request = .version
      case "--print-config": self.readPrinting(attached)
      case "--config":
        self.file = self.value(of: name, attached, &rest)
        if self.file == "" { self.errors.append(SettingError("\(name) has no value")) }
      default: self.readSetting(name, attached, &rest)
      }
    }
  }

  private mutating func readPrinting(_ format: String?) {
    switch format {
    case nil, "table": self.request = .printConfiguration
    case "yaml": self.request = .printYAML
    case let format?:
      self.errors.append(
        SettingError("--print-config is \(format.quotedWhereNeeded); expected table or yaml"))
    }
  }

  private mutating func readSetting(
    _ name: String, _ attached: String?, _ rest: inout ArraySlice<String>
  ) {
    guard let setting = SettingTable.setting(flag: name) else {
      self.errors.append(self.unknown(name))
      // The next argument was meant as its value.
      if name.hasPrefix("-"), attached == nil, let next = rest.first, !next.hasPrefix("-") {
        rest.removeFirst()
      }
      return
    }
    self.flags[setting.key] = name
    if let flag = setting.flag, setting.formerKeys.contains(where: { Setting.flag(of: $0) == name })
    {
      self.warnings.append("\(name) is now \(flag)")
    }
    let value =
      setting.kind.isSwitch ? attached ?? "true" : self.value(of: name, attached, &rest)
    // The last value of a single-value setting wins, which lets scripts append flags.
    if let value { self.values[setting.key, default: []].append(value) }
  }

  private mutating func value(
    of name: String, _ attached: String?, _ rest: inout ArraySlice<String>
  ) -> String? {
    if let attached { return attached }
    if let next = rest.first, !next.hasPrefix("--") { return rest.removeFirst() }
    self.errors.append(SettingError("\(name) has no value"))
    return nil
  }

  private func unknown(_ name: String) -> SettingError {
    guard name.hasPrefix("-") else {
      return SettingError(
        "\(name.quotedWhereNeeded) is unexpected; \(Self.command) takes only flags")
    }
    if let removed = SettingTable.removed.first(where: {
      $0.flag == name || Setting.flag(of: $0.key) == name
    }) {
      return SettingError(removed, named: name)
    }
    // If the name is a setting's key, suggest its flag.
    if let setting = SettingTable.all.first(where: { Setting.flag(of: $0.key) == name }) {
      guard setting.isSecret else { return SettingError(unknown: name, nearest: setting.flag) }
      return SettingError(
        "\(name) is not a flag, since other users can see a process's arguments; "
          + "set \(setting.key) in a file, or \(setting.variable)")
    }
    let flags = SettingTable.all.compactMap(\.flag) + Self.otherFlags
    return SettingError(
      unknown: name.quotedWhereNeeded,
      nearest: Spelling.nearest(
        to: String(name.drop { $0 == "-" }), among: flags.map { String($0.dropFirst(2)) }
      )
      .map { "--\($0)" })
  }

  private static let command = "sidelight serve"
  /// The flags that are not settings.
  public static let otherFlags = [
    "--config", "--print-config", "--help", "--help-all", "--version",
  ]

  /// Splits `--name=value` at the first equals sign.
  private static func split(_ argument: String) -> (name: String, value: String?) {
    guard argument.hasPrefix("-"), let equals = argument.firstIndex(of: "=") else {
      return (argument, nil)
    }
    return (
      String(argument[..<equals]), String(argument[argument.index(after: equals)...])
    )
  }

  /// The flags as a source of values.
  var layer: SettingLayer {
    SettingLayer(values: self.values) { [flags] setting in
      .flag(flags[setting.key] ?? setting.flag ?? setting.key)
    }
  }
}
