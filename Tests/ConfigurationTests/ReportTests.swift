import Foundation
import SidelightConfiguration
import Testing

@Suite struct ReportTests {
  static let key = "first:" + Data(repeating: 7, count: 32).base64EncodedString()

  @Test func `the table contains each setting, its value and its origin`() throws {
    let settings = try Settings(
      commandLine: CommandLineSource(["--max-sessions", "5", "--profile=throughput"]),
      environment: ["SIDELIGHT_SHUTDOWN_GRACE": "3"])
    let lines = settings.table.split(separator: "\n").map { line in
      line.split(separator: /\s{2,}/).map(String.init)
    }
    #expect(lines.map(\.[0]) == SettingTable.all.map(\.key))
    for expected in [
      ["limits.max-sessions", "5 sessions", "--max-sessions"],
      ["shutdown.grace", "3s", "SIDELIGHT_SHUTDOWN_GRACE"],
      ["transport.profile", "throughput", "--profile"],
      ["listen", "127.0.0.1:50051", "default"],
      ["admin.listen", "(disabled)", "default"],
      ["resume.keys", "(a random key)", "default"],
    ] {
      #expect(lines.contains(expected), "\(expected)")
    }
  }

  @Test func `a long value is not truncated`() throws {
    let path = "/tmp/" + String(repeating: "x", count: 100)
    let settings = try Settings(
      commandLine: CommandLineSource(["--shared-memory-socket", path]))
    #expect(settings.table.contains(" \(path) ") && settings.yaml.contains(" \(path) "))
  }

  @Test func `printed YAML is read as the same settings`() throws {
    let path = "/tmp/with \"quotes\", a # and \\ 'ticks' \u{7} &x *y é"
    let arguments = [
      "--listen=unix:\(path)", "--listen", "[::1]:0", "--max-load=0", "--studio-hosts=one",
      "--studio-hosts=two", "--shared-memory", "--shared-memory-socket=null",
      "--shared-memory-user=5", "--profile=throughput", "--shutdown-grace=1500ms",
      "--log-format=json", "--release-memory-after=0", "--admin=127.0.0.1:0",
    ]
    let settings = try Settings(commandLine: CommandLineSource(arguments))
    try withFile(settings.yaml) { file in
      let again = try Settings(commandLine: CommandLineSource(["--config", file]))
      for setting in SettingTable.all {
        #expect(again.texts(of: setting) == settings.texts(of: setting), "\(setting.key)")
      }
    }
  }

  @Test func `secrets are redacted wherever settings are printed`() throws {
    let settings = try Settings(environment: ["SIDELIGHT_RESUME_KEYS": Self.key])
    #expect(settings.configuration.server.resumeKeys.map(\.id) == ["first"])
    let secret = try #require(Self.key.split(separator: ":").last)
    for text in [settings.table, settings.yaml] {
      #expect(text.contains("<redacted>") && text.contains("SIDELIGHT_RESUME_KEYS"))
      #expect(!text.contains(secret))
    }
    try withFile("\(Self.key)\n") { path in
      let settings = try Settings(commandLine: CommandLineSource(["--resume-keys-file", path]))
      #expect(settings.configuration.server.resumeKeys.map(\.id) == ["first"])
      for text in [settings.table, settings.yaml] {
        #expect(text.contains(path) && !text.contains(secret))
      }
    }
  }

  @Test func `keys come from one source only`() throws {
    try withFile("\(Self.key)\n") { path in
      #expect(
        errorMessages(
          ["--resume-keys-file", path], environment: ["SIDELIGHT_RESUME_KEYS": Self.key])
          == ["SIDELIGHT_RESUME_KEYS cannot be combined with SIDELIGHT_RESUME_KEYS_FILE"])
    }
  }

  @Test func `the example contains the defaults, and is valid when uncommented`() throws {
    try withFile(Settings.example) { path in
      let settings = try Settings(commandLine: CommandLineSource(["--config", path]))
      #expect(SettingTable.all.allSatisfy { settings.origin(of: $0) == .default })
    }
    // Uncomment the settings that have a value.
    let uncommented = Settings.example.replacing(/(?m)^( *)#([a-z0-9-]+: \S.*)$/) {
      "\($0.1)\($0.2)"
    }
    try withFile(uncommented) { path in
      let settings = try Settings(commandLine: CommandLineSource(["--config", path]))
      for setting in SettingTable.all {
        let texts = Settings.defaults.texts(of: setting)
        #expect(settings.texts(of: setting) == texts, "\(setting.key)")
        if case .file = settings.origin(of: setting) { continue }
        #expect(texts == nil, "\(setting.key)")
      }
    }
  }

  @Test func `the short help lists the common settings, the long help all`() {
    for setting in SettingTable.all {
      guard let flag = setting.flag else { continue }
      #expect(SettingsHelp.all.contains(" \(flag)"), "\(flag)")
      if setting.use == .common { #expect(SettingsHelp.common.contains(" \(flag)"), "\(flag)") }
    }
    for line in SettingsHelp.common.split(separator: "\n") {
      #expect(line.count <= 80, "\(line)")
    }
  }
}
