import SidelightConfiguration
import Testing

@Suite struct PrecedenceTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let key: String
    let texts: [String]
    var testDescription: String { self.key }
  }

  /// A setting per format, with a text for the file, the variable and the flag.
  static let cases = [
    Case(key: "limits.max-sessions", texts: ["7", "8", "9"]),
    Case(key: "limits.max-load", texts: ["0.5", "3", "0"]),
    Case(key: "guards.keepalive-interval", texts: ["500ms", "1min", "2s"]),
    Case(key: "transport.max-message-bytes", texts: ["1MiB", "2MiB", "65536KiB"]),
    Case(key: "shared-memory.mb", texts: ["1MiB", "2GiB", "3GiB"]),
    Case(key: "transport.profile", texts: ["throughput", "latency", "throughput"]),
    Case(key: "log.level", texts: ["error", "debug", "trace"]),
    Case(key: "log.format", texts: ["text", "json", "text"]),
    Case(key: "shared-memory.enabled", texts: ["false", "true", "false"]),
    Case(key: "unix-socket.mode", texts: ["660", "666", "777"]),
    Case(key: "listen", texts: ["127.0.0.1:1", "[::1]:2", "unix:/tmp/three"]),
    Case(key: "admin.listen", texts: ["127.0.0.1:1", "[::1]:2", "unix:/tmp/three"]),
    Case(key: "studio.hosts", texts: ["one", "two", "three"]),
  ]

  @Test(arguments: Self.cases)
  func `flags override variables, variables files, and files defaults`(_ test: Case) throws {
    let setting = try #require(SettingTable.setting(test.key))
    let flag = try #require(setting.flag)
    try withFile("\(test.key): \(quoted(test.texts[0]))\n") { path in
      let file = ["--config", path]
      let variable = [setting.variable: test.texts[1]]
      let all: [(Settings, String?, SettingOrigin)] = [
        (try read(file + ["\(flag)=\(test.texts[2])"], variable), test.texts[2], .flag(flag)),
        (try read(file, variable), test.texts[1], .environment(setting.variable)),
        (try read(file), test.texts[0], .file(path: path, line: 1)),
        (try read([]), Settings.defaults.texts(of: setting)?.first, .default),
      ]
      for (settings, text, origin) in all {
        let canonical = text == "65536KiB" ? "64MiB" : text
        #expect(settings.texts(of: setting)?.first == canonical)
        #expect(settings.origin(of: setting) == origin)
      }
    }
  }

  @Test(arguments: Self.cases)
  func `a command's own defaults give way to all sources`(_ test: Case) throws {
    let setting = try #require(SettingTable.setting(test.key))
    let flag = try #require(setting.flag)
    let defaults = [test.key: [test.texts[1]]]
    let alone = try Settings(defaults: defaults)
    #expect(alone.texts(of: setting)?.first == test.texts[1])
    #expect(alone.origin(of: setting) == .default)
    let sources = [
      try Settings(
        commandLine: CommandLineSource(["\(flag)=\(test.texts[0])"]), defaults: defaults),
      try Settings(environment: [setting.variable: test.texts[0]], defaults: defaults),
    ]
    for settings in sources { #expect(settings.texts(of: setting)?.first == test.texts[0]) }
    try withFile("\(test.key): \(quoted(test.texts[0]))\n") { path in
      let file = try Settings(
        commandLine: CommandLineSource(["--config", path]), defaults: defaults)
      #expect(file.texts(of: setting)?.first == test.texts[0])
    }
  }

  @Test func `the source with precedence replaces the whole list`() throws {
    try withFile("listen: [127.0.0.1:1, 127.0.0.1:2]\n") { path in
      let environment = ["SIDELIGHT_LISTEN": "127.0.0.1:3, unix:/tmp/four"]
      let file = try read(["--config", path])
      #expect(file.configuration.server.addresses.count == 2)
      let variable = try read(["--config", path], environment)
      #expect(
        variable.configuration.server.addresses
          == [.tcp(host: "127.0.0.1", port: 3), .unix(path: "/tmp/four")])
      let flags = try read(["-l", "127.0.0.1:5", "--listen=[::1]:6"], environment)
      #expect(
        flags.configuration.server.addresses
          == [.tcp(host: "127.0.0.1", port: 5), .tcp(host: "::1", port: 6)])
    }
  }

  @Test func `the last value of a repeated flag applies`() throws {
    #expect(
      try read(["--max-sessions", "3", "--max-sessions=5"]).configuration.server.maxSessions == 5)
  }

  @Test func `the flag names the file, or else the variable`() throws {
    try withFile("limits: {max-sessions: 3}") { three in
      try withFile("limits: {max-sessions: 4}") { four in
        let environment = ["SIDELIGHT_CONFIG": three]
        let named = try read([], environment)
        #expect(named.configuration.server.maxSessions == 3)
        let flag = try read(["--config", four], environment)
        #expect(flag.configuration.server.maxSessions == 4)
      }
    }
  }

  @Test func `a profile sets the transport, and other settings override it`() throws {
    let transport = try read(["--max-message-bytes=1MiB", "--profile=throughput"])
      .configuration.server.transport
    #expect(transport.executor == .concurrent && transport.maxMessageBytes == 1 << 20)
    #expect(transport.flushCoalescing == TransportConfiguration.throughput.flushCoalescing)
  }

  // Settings of TLS and tokens require others.
  @Test(
    arguments: SettingTable.all.filter {
      $0.key != "transport.profile" && !$0.key.hasPrefix("tls.") && !$0.key.hasPrefix("token.")
    })
  func `a profile does not change settings that are set`(setting: Setting) throws {
    guard let flag = setting.flag, let range = setting.kind.range, range.contains(" to "),
      let end = range.split(separator: " ").first
    else { return }
    // Users of shared memory need a socket.
    let given = ["--shared-memory-socket=/tmp/s", "\(flag)=\(end)"]
    let alone = try read(given)
    let both = try read(["--profile=throughput"] + given)
    #expect(both.texts(of: setting) == alone.texts(of: setting))
    #expect(both.origin(of: setting) == .flag(flag))
  }

  @Test func `drain timeouts are within the grace period`() throws {
    let short = try read(["--shutdown-grace", "2"]).configuration.server
    #expect(short.drainTimeout == .milliseconds(1200))
    #expect(short.closeTimeout == .milliseconds(1440))
    #expect(try read([]).configuration.server.drainTimeout == ServerConfiguration().drainTimeout)
  }

  @Test func `a burst of PINGs is four times the rate, as in the defaults`() throws {
    #expect(try read(["--guards-pings-per-second=7"]).configuration.server.guards.pingBurst == 28)
    let defaults = ServerConfiguration().guards
    #expect(defaults.pingBurst == 4 * defaults.pingsPerSecond)
  }

  @Test func `settings of shared memory apply only if it is enabled`() throws {
    #expect(try read(["--shared-memory-mb", "16"]).configuration.server.sharedMemory == nil)
    let offered = try read(["--shared-memory", "--shared-memory-mb", "16"])
    #expect(offered.configuration.server.sharedMemory?.maxBytes == 16 << 20)
    #expect(
      errorMessages(["--shared-memory", "--shared-memory-user", "5"])
        == ["--shared-memory-user requires --shared-memory-socket"])
  }

  private func read(
    _ arguments: [String], _ environment: [String: String] = [:]
  ) throws -> Settings {
    try Settings(commandLine: CommandLineSource(arguments), environment: environment)
  }

  private func quoted(_ text: String) -> String { "\"\(text)\"" }
}
