extension Settings {
  /// All that has a value, as a file that can be read again. Secrets are left out.
  public var yaml: String {
    SettingTable.all.yaml { setting in
      let origin = "# \(self.origin(of: setting))"
      if setting.isSecret {
        return self.isGiven(setting.key) ? ["# \(setting.name): <redacted>  \(origin)"] : []
      }
      guard let texts = self.texts(of: setting) else { return [] }
      return ["\(setting.name): \(setting.yaml(texts))  \(origin)"]
    }
  }

  /// A file to begin with: each setting and what it is for, all of them commented out.
  public static let example: String = {
    let defaults = ServeConfiguration()
    return """
      # Settings of `sidelight serve --config FILE`, made by `make reference`. Take the # away before
      # what is to be otherwise; docs/reference/configuration.md says more. What stands here is the default.
      # Flags and environment variables win over this file.

      """
        + SettingTable.all.yaml(gap: "\n") { setting in
          let texts = setting.isSecret ? nil : setting.texts(in: defaults)
          let facts = [
            setting.kind.range, texts == nil ? setting.kind.none.map { "default: \($0)" } : nil,
            setting.change == .onReload ? "SIGHUP reloads it" : nil,
          ].compactMap(\.self)
          return ["# \(setting.summary)", "# (\(facts.joined(separator: "; ")))"]
            + ["#\(setting.name): \(texts.map(setting.yaml) ?? "")"]
        }
  }()
}

extension [Setting] {
  /// The settings as YAML, in their sections.
  ///
  /// - Parameters:
  ///   - gap: What stands before a setting.
  ///   - lines: What is said of one; nothing: it is left out.
  fileprivate func yaml(gap: String = "", _ lines: (Setting) -> [String]) -> String {
    var text = ""
    var section: String?
    for setting in self {
      let lines = lines(setting)
      if lines.isEmpty { continue }
      if setting.section != section, let section = setting.section { text += "\(gap)\(section):\n" }
      if setting.section == nil || setting.section == section { text += gap }
      section = setting.section
      for line in lines { text += (section == nil ? "" : "  ") + line + "\n" }
    }
    return text
  }
}

extension Setting {
  /// The key's part before the dot, if it has one; none has two.
  var section: String? {
    self.key.firstIndex(of: ".").map { String(self.key[..<$0]) }
  }

  /// The key's last part.
  var name: String {
    self.key.lastIndex(of: ".").map { String(self.key[self.key.index(after: $0)...]) } ?? self.key
  }

  /// A value as YAML has it.
  fileprivate func yaml(_ texts: [String]) -> String {
    self.kind.isList
      ? "[\(texts.map(Self.scalar).joined(separator: ", "))]" : texts.map(Self.scalar).joined()
  }

  /// Quoted unless it means itself: in double quotes YAML's escapes are those of JSON, and more.
  private static func scalar(_ text: String) -> String {
    let isPlain =
      text.first.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "/") } ?? false
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-+./_".contains($0)) }
    guard !isPlain || ["null", "Null", "NULL"].contains(text) else { return text }
    let escaped = text.unicodeScalars.map { scalar -> String in
      switch scalar {
      case "\"", "\\": "\\\(scalar)"
      case _ where scalar.value < 32 || scalar.value == 127:
        "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: String(scalar)
      }
    }
    return "\"\(escaped.joined())\""
  }
}
