import Foundation
import SidelightConfiguration
import SidelightServer
import SidelightWire
import Testing

@Suite struct WorkerTests {
  static let key = ResumeKey(id: "shared", secret: Data(repeating: 7, count: 32))

  static func settings(_ arguments: String...) throws -> ServeConfiguration {
    try Settings(commandLine: CommandLineSource(arguments)).configuration
  }

  @Test func `no supervisor runs by default`() throws {
    #expect(try Self.settings().workers == 0)
    #expect(try Self.settings("--workers=3").workers == 3)
  }

  @Test func `workers share the processors, unless their threads are stated`() throws {
    let all = ServerConfiguration().computeThreads
    for count in [1, 2, all, 64] {
      let worker = try Self.settings("--workers=\(count)").forWorker(
        0, of: count, resumeKey: Self.key)
      #expect(worker.server.computeThreads == max(1, all / count))
    }
    let stated = try Self.settings("--workers=2", "--compute-threads=7")
    #expect(stated.forWorker(1, of: 2, resumeKey: Self.key).server.computeThreads == 7)
  }

  @Test func `the supervisor's key signs unless keys are configured`() throws {
    let secret = Data(repeating: 9, count: 32)
    let random = try Self.settings().forWorker(1, of: 2, resumeKey: Self.key)
    #expect(random.server.resumeKeys == [Self.key])
    let configured = try Settings(
      environment: ["SIDELIGHT_RESUME_KEYS": "fleet:\(secret.base64EncodedString())"])
    #expect(
      configured.configuration.forWorker(1, of: 2, resumeKey: Self.key).server.resumeKeys
        == [ResumeKey(id: "fleet", secret: secret)])
  }

  @Test(arguments: [
    ("127.0.0.1:9464", Address.tcp(host: "127.0.0.1", port: 9466)),
    ("127.0.0.1:0", .tcp(host: "127.0.0.1", port: 0)),
    ("unix:/run/admin", .unix(path: "/run/admin.2")),
  ])
  func `each worker has its own admin endpoint`(admin: String, expected: Address) throws {
    let settings = try Self.settings("--admin=\(admin)")
    #expect(settings.forWorker(2, of: 3, resumeKey: Self.key).admin == expected)
  }

  @Test func `each worker has its own descriptor socket`() throws {
    let settings = try Self.settings("--shared-memory", "--shared-memory-socket=/run/rings")
    let worker = settings.forWorker(1, of: 2, resumeKey: Self.key)
    #expect(worker.server.sharedMemory?.socketPath == "/run/rings.1")
  }

  @Test(arguments: [
    ["--workers=65"], ["--workers=-1"], ["--workers=two"],
    ["--workers=2", "--admin=127.0.0.1:65535"],
    ["--workers=2", "--admin=unix:/\(String(repeating: "a", count: 105))"],
    [
      "--workers=11", "--shared-memory",
      "--shared-memory-socket=/\(String(repeating: "a", count: 104))",
    ],
  ])
  func `settings that are invalid for some of the workers are refused`(arguments: [String]) {
    #expect(throws: SettingErrors.self) {
      try Settings(commandLine: CommandLineSource(arguments))
    }
  }
}
