import SidelightConfiguration
import SidelightIdentity
import SidelightServer
import Testing

/// Names of earlier versions.
@Suite struct FormerSettingTests {
  static let renamed = SettingTable.all.flatMap { setting in
    setting.formerKeys.map { Renamed(former: $0, setting: setting) }
  }

  struct Renamed: Sendable, CustomTestStringConvertible {
    let former: String
    let setting: Setting
    var testDescription: String { self.former }
    var flag: String { "--" + self.former.replacing(".", with: "-") }
    var variable: String {
      "SIDELIGHT_" + self.former.uppercased().map { $0.isLetter ? $0 : "_" }
    }
  }

  @Test func `the renamed settings are these`() {
    #expect(Self.renamed.map(\.former) == ["shared-memory.companion-timeout"])
  }

  @Test(arguments: Self.renamed)
  func `a former name sets the value, and a warning has the new name`(_ renamed: Renamed) throws {
    let setting = renamed.setting
    let flag = try Settings(commandLine: CommandLineSource(["\(renamed.flag)=30ms"]))
    #expect(flag.texts(of: setting) == ["30ms"])
    #expect(flag.origin(of: setting) == .flag(renamed.flag))
    #expect(flag.warnings == ["\(renamed.flag) is now \(setting.flag ?? "")"])

    let variable = try Settings(environment: [renamed.variable: "40ms"])
    #expect(variable.texts(of: setting) == ["40ms"])
    #expect(variable.origin(of: setting) == .environment(renamed.variable))
    #expect(variable.warnings == ["\(renamed.variable) is now \(setting.variable)"])

    try withFile("\(renamed.former): 50ms\n") { path in
      let file = try Settings(commandLine: CommandLineSource(["--config", path]))
      #expect(file.texts(of: setting) == ["50ms"])
      #expect(file.warnings == ["\(path):1: \(renamed.former) is now \(setting.key)"])
    }
  }

  @Test(arguments: Self.renamed)
  func `a former name in a source of higher precedence overrides the new name`(
    _ renamed: Renamed
  ) throws {
    let setting = renamed.setting
    try withFile("\(setting.key): 50ms\n") { path in
      let settings = try Settings(
        commandLine: CommandLineSource(["--config", path]), environment: [renamed.variable: "40ms"])
      #expect(settings.texts(of: setting) == ["40ms"])
    }
    let both = try Settings(environment: [renamed.variable: "40ms", setting.variable: "60ms"])
    #expect(both.texts(of: setting) == ["60ms"] && both.warnings.count == 1)
    try withFile("\(setting.key): 50ms\n\(renamed.former): 50ms\n") { path in
      #expect(errorMessages(["--config", path]) == ["\(path):2: \(setting.key) is set twice"])
    }
  }

  @Test func `settings with current names have no warnings`() throws {
    let settings = try Settings(
      commandLine: CommandLineSource(["--shared-memory-descriptor-timeout=1s", "--max-load=1"]))
    #expect(settings.warnings.isEmpty)
  }

  @Test(arguments: SettingTable.removed.indices)
  func `a removed name is an error that says what to do`(_ index: Int) throws {
    let removed = SettingTable.removed[index]
    let variable =
      "SIDELIGHT_" + removed.key.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" }
    #expect(
      errorMessages([removed.flag, "1"]) == ["\(removed.flag) was removed; \(removed.remedy)"])
    #expect(
      errorMessages(environment: [variable: "1"])
        == ["\(variable) was removed; \(removed.remedy)"])
    try withFile("\(removed.key): 1\n") { path in
      #expect(
        errorMessages(["--config", path])
          == ["\(path):1: \(removed.key) was removed; \(removed.remedy)"])
    }
    #expect(SettingTable.setting(removed.key) == nil)
  }

  /// The remedies name properties, and settings, that exist.
  @Test func `the remedies of removed settings exist`() throws {
    let types: [String: Any] = [
      "AssetConfiguration": AssetConfiguration(), "GuardConfiguration": GuardConfiguration(),
      "ServerConfiguration": ServerConfiguration(),
      "SharedMemoryConfiguration": SharedMemoryConfiguration(),
      "TokenConfiguration": TokenConfiguration(issuer: "i", audience: "a", keys: "k"),
      "TransportConfiguration": TransportConfiguration(),
    ]
    for removed in SettingTable.removed {
      if let name = removed.remedy.firstMatch(of: /([A-Z][A-Za-z]+)\.([A-Za-z0-9]+)$/) {
        let value = try #require(types[String(name.1)], "\(removed.remedy)")
        let properties = Mirror(reflecting: value).children.compactMap(\.label)
        #expect(properties.contains(String(name.2)), "\(removed.remedy)")
      } else {
        #expect(
          SettingTable.all.contains { removed.remedy.contains($0.key) }
            || removed.key == "guards.off", "\(removed.remedy)")
      }
    }
  }
}
