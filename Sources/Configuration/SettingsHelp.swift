/// The settings in `sidelight serve --help`.
public enum SettingsHelp {
  /// Help on the common settings, and a reference to the others.
  public static var common: String {
    """
    Settings are flags, environment variables (SIDELIGHT_...), or entries of
    a YAML file; flags take precedence, then variables. Common settings:

    \(Self.lines(SettingTable.all.filter { $0.use == .common }))

    All other settings, such as guards and timeouts: --help-all.

    \(Self.others)
    """
  }

  /// Help on all settings, by group.
  public static var all: String {
    SettingTable.groups.map { "\($0.title.uppercased()):\n\n\(Self.lines($0.settings))" }
      .joined(separator: "\n\n") + "\n\n\(Self.others)\n"
  }

  private static let others = """
      --config <path>
              Read settings from this YAML file. (default: SIDELIGHT_CONFIG)
      --print-config[=yaml]
              Show each setting with its origin, and exit. The YAML form can be
              used with --config.
      --help, --help-all
              Show help on the common settings, or on all settings.
    """

  private static func lines(_ settings: [Setting]) -> String {
    let defaults = ServeConfiguration()
    return settings.map { setting in
      let flag = setting.flag ?? "(no flag) \(setting.key)"
      let head =
        "  " + (setting.shortFlag.map { "-\($0), " } ?? "") + flag
        + (setting.kind.isSwitch ? "" : " <\(setting.placeholder)>")
      var text = setting.summary
      if let range = setting.kind.range { text += " \(range)." }
      if setting.kind.isList { text += " May be repeated." }
      if !setting.kind.isSwitch {
        let value = setting.isSecret ? nil : setting.texts(in: defaults)?.joined(separator: ", ")
        text +=
          " (default: \(value.flatMap { $0.isEmpty ? nil : $0 } ?? setting.kind.none ?? "none"))"
      }
      return ([head] + Self.wrapped(text, indent: 10)).joined(separator: "\n")
    }.joined(separator: "\n")
  }

  /// Wraps a text at 76 characters, since ArgumentParser wraps longer lines again.
  private static func wrapped(_ text: String, indent: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, indent + line.count + 1 + word.count > 76 {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    return (lines + [line]).map { String(repeating: " ", count: indent) + $0 }
  }
}

extension Setting {
  /// The placeholder of the value in help.
  fileprivate var placeholder: String {
    switch self.kind.type {
    case "integer": self.kind.unit == nil ? "number" : "count"
    case "number": "ratio"
    case "boolean": "bool"
    case "permissions": "mode"
    case "user ID": "uid"
    default: self.kind.type
    }
  }
}
