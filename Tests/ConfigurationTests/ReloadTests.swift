import Foundation
import Logging
import SidelightConfiguration
import Testing

@Suite struct ReloadTests {
  @Test func `a reload applies the settings that can change, and reports the others`() throws {
    let old = try self.read("limits: {max-sessions: 3}\nguards: {pings-per-second: 5}\n")
    let new = try self.read(
      "limits: {max-sessions: 4}\nlog: {level: debug}\ntransport: {max-message-bytes: 1MiB}\n")
    let reload = old.reloading(new)
    #expect(
      reload.applied.map(\.key) == ["limits.max-sessions", "guards.pings-per-second", "log.level"])
    #expect(reload.awaitingRestart.map(\.key) == ["transport.max-message-bytes"])
    let configuration = reload.settings.configuration
    #expect(configuration.server.maxSessions == 4)
    #expect(configuration.server.guards == Settings.defaults.configuration.server.guards)
    #expect(configuration.log.level == .debug)
    #expect(configuration.server.transport.maxMessageBytes == 64 << 20)
    // A change that waits for a restart is reported at every reload, until it is undone.
    #expect(reload.settings.reloading(new).applied.isEmpty)
    #expect(
      reload.settings.reloading(new).awaitingRestart.map(\.key) == ["transport.max-message-bytes"])
  }

  @Test func `settings that did not change keep the random key`() throws {
    let old = try self.read("")
    let keys = old.configuration.server.resumeKeys
    let reload = old.reloading(try self.read("limits: {max-sessions: 4}"))
    #expect(reload.settings.configuration.server.resumeKeys == keys)
  }

  @Test func `keys in a file are rotated although the setting is the same`() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).keys")
    defer { try? FileManager.default.removeItem(at: url) }
    let line = { (name: String, byte: UInt8) in
      "\(name):\(Data(repeating: byte, count: 32).base64EncodedString())\n"
    }
    let text = "resume: {keys-file: \"\(url.path)\"}"
    try Data(line("old", 1).utf8).write(to: url)
    let old = try self.read(text)
    try Data((line("new", 2) + line("old", 1)).utf8).write(to: url)
    let reload = old.reloading(try self.read(text))
    #expect(reload.applied.map(\.key) == ["resume.keys-file"])
    #expect(reload.settings.configuration.server.resumeKeys.map(\.id) == ["new", "old"])
  }

  private func read(_ text: String) throws -> Settings {
    try withFile(text) { path in
      try Settings(commandLine: CommandLineSource(["--config", path]))
    }
  }
}
