import ArgumentParser
import SidelightConfiguration

/// `sidelight settings`: shows the settings of `serve`.
struct SettingsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "List the settings of the server, or describe one.")

  @Argument(help: "Setting to describe, such as limits.max-sessions. Default: list all.")
  var key: String?

  @Flag(help: "Print a reference page in Markdown.")
  var markdown = false

  @Flag(help: "Print an example file for --config, with all settings commented out.")
  var example = false

  func validate() throws {
    guard [self.markdown, self.example, self.key != nil].filter(\.self).count <= 1 else {
      throw ValidationError("A setting, --markdown and --example cannot be combined.")
    }
  }

  func run() throws {
    if self.markdown {
      print(SettingReference().text, terminator: "")
    } else if self.example {
      print(Settings.example, terminator: "")
    } else if let key {
      print(try Self.page(of: key))
    } else {
      print(SettingTable.all.map { "\($0.key): \($0.summary)" }.joined(separator: "\n"))
    }
  }

  private static func page(of key: String) throws -> String {
    guard let setting = SettingTable.setting(key) else {
      let hint = SettingTable.nearestKey(to: key).map { " Did you mean \($0)?" } ?? ""
      throw ValidationError("There is no setting '\(key)'.\(hint)")
    }
    return """
      \(setting.key)

        \(setting.summary)

        Flag      \(setting.flag ?? "none")
        Variable  \(setting.variable)
        Values    \(setting.kind.words)
        Default   \(Settings.defaults.words(for: setting))
        Change    \(setting.change == .onReload ? "reloaded on SIGHUP" : "requires a restart")
      """
  }
}
