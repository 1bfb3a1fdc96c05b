/// What stands behind `sidelight serve`: flags of settings, and what is wanted beside serving.
public struct CommandLineSource: Sendable {
  /// What is wanted.
  public enum Request: Sendable, Hashable {
    case serve
    /// Tell what each setting is, and where it came from.
    case printConfiguration
    /// The same as a file that can be read again.
    case printYAML
    /// Help on what is needed every day.
    case help
    /// Help on everything.
    case helpAll
    /// Tell the version.
    case version
  }

  /// What is wanted.
  public private(set) var request = Request.serve
  /// The file that `--config` names.
  public private(set) var file: String?
  private(set) var values: [String: [String]] = [:]
  private(set) var flags: [String: String] = [:]
  private(set) var faults: [SettingFault] = []

  /// Reads arguments. What is wrong with them is told when the settings are loaded, with all the rest.
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
        if self.file == "" { self.faults.append(SettingFault("\(name) has no value")) }
      default: self.readSetting(name, attached, &rest)
      }
    }
  }

  private mutating func readPrinting(_ form: String?) {
    switch form {
    case nil, "table": self.request = .printConfiguration
    case "yaml": self.request = .printYAML
    case let form?:
      self.faults.append(
        SettingFault("--print-config is \(form.quotedWhereNeeded), the choice is table or yaml"))
    }
  }

  private mutating func readSetting(
    _ name: String, _ attached: String?, _ rest: inout ArraySlice<String>
  ) {
    guard let setting = SettingTable.setting(flag: name) else {
      self.faults.append(self.unknown(name))
      // What follows was meant to be its value.
      if name.hasPrefix("-"), attached == nil, let next = rest.first, !next.hasPrefix("-") {
        rest.removeFirst()
      }
      return
    }
    self.flags[setting.key] = name
    let value =
      setting.kind.isSwitch ? attached ?? "true" : self.value(of: name, attached, &rest)
    // Of a setting that has one value the last counts, so that scripts can add to what they are given.
    if let value { self.values[setting.key, default: []].append(value) }
  }

  private mutating func value(
    of name: String, _ attached: String?, _ rest: inout ArraySlice<String>
  ) -> String? {
    if let attached { return attached }
    if let next = rest.first, !next.hasPrefix("--") { return rest.removeFirst() }
    self.faults.append(SettingFault("\(name) has no value"))
    return nil
  }

  private func unknown(_ name: String) -> SettingFault {
    guard name.hasPrefix("-") else {
      return SettingFault(
        "\(name.quotedWhereNeeded) is unexpected: \(Self.command) takes flags only")
    }
    // Who writes a setting's key as a flag is told how it is called.
    if let setting = SettingTable.all.first(where: { Self.flag(of: $0.key) == name }) {
      guard setting.isSecret else { return SettingFault(unknown: name, nearest: setting.flag) }
      return SettingFault(
        "\(name) is no flag, since a process's arguments can be seen by others: "
          + "\(setting.key) stands in a file, or in \(setting.variable)")
    }
    let flags = SettingTable.all.compactMap(\.flag) + Self.otherFlags
    return SettingFault(
      unknown: name.quotedWhereNeeded,
      nearest: Spelling.nearest(
        to: String(name.drop { $0 == "-" }), among: flags.map { String($0.dropFirst(2)) }
      )
      .map { "--\($0)" })
  }

  private static let command = "sidelight serve"
  /// Flags that are no settings.
  public static let otherFlags = [
    "--config", "--print-config", "--help", "--help-all", "--version",
  ]

  private static func flag(of key: String) -> String { "--" + key.replacing(".", with: "-") }

  /// `--name=value`, cut at the first equals sign.
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
    SettingLayer(name: "flags", values: self.values) { [flags] setting in
      .flag(flags[setting.key] ?? setting.flag ?? setting.key)
    }
  }
}
