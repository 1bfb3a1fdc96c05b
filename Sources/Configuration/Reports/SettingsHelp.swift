/// What `sidelight serve --help` says of settings.
public enum SettingsHelp {
  /// The everyday settings, and how to have the others told.
  public static var everyday: String {
    """
    Settings are flags, environment variables (SIDELIGHT_...), or stand in a
    YAML file; the first of these wins. What is needed every day:

    \(Self.lines(SettingTable.all.filter { $0.use == .everyday }))

    Everything else, such as guards and timeouts: --help-all.

    \(Self.others)
    """
  }

  /// All settings, in their groups.
  public static var all: String {
    SettingTable.groups.map { "\($0.title.uppercased()):\n\n\(Self.lines($0.settings))" }
      .joined(separator: "\n\n") + "\n\n\(Self.others)\n"
  }

  private static let others = """
      --config <path>
              A file of settings, in YAML; SIDELIGHT_CONFIG names one too.
      --print-config[=yaml]
              Tell each setting and where it came from, and stop. As YAML it can
              be fed back.
      --help, --help-all
              Show this, or all settings.
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

  /// Lines of at most 76 characters, where words allow: ArgumentParser breaks longer ones anew.
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
  /// What stands for the value where a flag is shown.
  fileprivate var placeholder: String {
    switch self.kind.type {
    case "whole number": self.kind.unit == nil ? "number" : "count"
    case "number": "ratio"
    case "yes or no": "bool"
    case "permissions": "mode"
    case "user": "uid"
    default: self.kind.type
    }
  }
}
