import SidelightConfiguration
import Testing

@Suite struct SettingTableTests {
  @Test func `no two settings share a key, a flag or a variable`() {
    let all = SettingTable.all
    #expect(Set(all.map(\.key)).count == all.count)
    #expect(Set(all.map(\.variable)).count == all.count)
    let flags = all.compactMap(\.flag) + CommandLineSource.otherFlags
    #expect(Set(flags).count == flags.count)
  }

  @Test func `keys are a section and a name, or a name`() {
    for setting in SettingTable.all {
      #expect(setting.key.wholeMatch(of: /([a-z0-9-]+\.)?[a-z0-9-]+/) != nil, "\(setting.key)")
      // A setting is not a section too.
      #expect(!SettingTable.all.contains { $0.key.hasPrefix(setting.key + ".") }, "\(setting.key)")
    }
  }

  @Test func `each setting has a summary and a range`() {
    for setting in SettingTable.all {
      #expect(setting.summary.hasSuffix("."), "\(setting.key)")
      #expect(setting.kind.range != nil || setting.kind.type == "path", "\(setting.key)")
    }
  }

  @Test(arguments: SettingTable.all.filter { !$0.isSecret })
  func `a formatted default is parsed as the same value`(setting: Setting) throws {
    guard let texts = Settings.defaults.texts(of: setting), !texts.isEmpty else { return }
    let variable = texts.joined(separator: ",")
    let settings = try Settings(environment: [setting.variable: variable])
    #expect(settings.texts(of: setting) == texts)
    #expect(settings.origin(of: setting) == .environment(setting.variable))
  }

  @Test func `the flags of earlier versions still exist`() {
    let flags = Set(SettingTable.all.compactMap(\.flag))
    for flag in [
      "listen", "profile", "max-message-bytes", "unix-socket-mode",
      "release-memory-after", "compute-threads", "max-sessions", "max-sessions-per-caller",
      "max-load", "shared-memory", "shared-memory-socket", "shared-memory-mb",
      "shared-memory-user", "shutdown-grace", "log-level", "log-format",
      "admin",
    ] {
      #expect(flags.contains("--" + flag), "--\(flag)")
    }
  }

  @Test func `an address has a quarter of the limits of all, at least the default`() throws {
    let guards = { (connections: Int, bytes: String) in
      try Settings(
        commandLine: CommandLineSource([
          "--guards-max-connections=\(connections)", "--guards-max-unfinished-bytes=\(bytes)",
        ])
      ).configuration.server.guards
    }
    let large = try guards(4000, "1GiB")
    #expect((large.maxConnections, large.maxConnectionsPerAddress) == (4000, 1000))
    #expect(large.maxUnfinishedBytes == 1 << 30)
    #expect(large.maxUnfinishedBytesPerAddress == 512 << 20)
    // But not more than a half.
    let small = try guards(400, "256MiB")
    #expect(small.maxConnectionsPerAddress == 200)
    #expect(small.maxUnfinishedBytesPerAddress == 128 << 20)
  }

  /// The library validates a transport too, for programs that embed it. The table must not accept
  /// values that the library refuses.
  @Test func `the library accepts the ends of the transport settings' ranges`() throws {
    for setting in SettingTable.all where setting.key.hasPrefix("transport.") {
      guard let ends = setting.kind.range?.firstMatch(of: /^(\S+) to ([^\s,]+)/) else { continue }
      for end in [ends.1, ends.2] {
        let settings = try Settings(
          commandLine: CommandLineSource(["\(setting.flag ?? "")=\(end)"]))
        try settings.configuration.server.transport.validate()
      }
    }
  }
}
