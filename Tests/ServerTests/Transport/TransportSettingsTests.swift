import Foundation
import Logging
import SidelightClient
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Synchronization
import Testing
import Tracing

/// Tests of the effects of a transport configuration.
@Suite(.timeLimit(.minutes(5))) struct TransportSettingsTests {
  @Test func `GetServerInfo reports the settings in effect`() async throws {
    var configuration = ServerConfiguration()
    configuration.transport = .throughput
    configuration.transport.eventLoops = 2
    configuration.transport.streamWindowBytes = 1 << 20
    configuration.releaseMemoryAfter = .seconds(7)
    try await withServer(configuration) { _, address in
      let info = try await withStub(address) { try await $0.getServerInfo(.init()) }
      #expect(info.transport.profile == "custom")
      #expect(info.transport.executor == .concurrent)
      #expect(info.transport.flushDelayUs == 100)
      #expect(info.transport.flushBytes == 65536)
      #expect(info.transport.eventLoops == 2)
      #expect(info.transport.streamWindowBytes == 1 << 20)
      #expect(info.transport.maxMessageBytes == info.limits.maxMessageBytes)
      #expect(info.transport.allocator.idleReleaseMs == 7000)
    }
    try await withServer { _, address in
      let transport = try await withStub(address) { try await $0.getServerInfo(.init()).transport }
      #expect(transport.profile == "latency")
      #expect(transport.executor == .eventLoops)
      #expect(transport.flushDelayUs == 0)
    }
  }

  @Test(
    arguments: [TransportConfiguration.latency, .throughput])
  func `large frames are returned complete with every executor`(transport: TransportConfiguration)
    async throws
  {
    var configuration = ServerConfiguration()
    configuration.transport = transport
    try await withServer(configuration) { _, address in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for seed: UInt64 in 1 ... 16 {
          group.addTask {
            // More than 64 KiB, from where messages are not copied.
            let sent = try picture(320, 240, seed: seed)
            let results = try await SidelightClient.connect(to: address, transport: transport) {
              try await $0.withSession(SessionOptions(dropPolicy: .neverDrop)) { session in
                for _ in 0 ..< 4 { await session.send(VideoFrame(sent)) }
                session.finish()
                return try await session.outcomes.reduce(into: []) { $0.append($1.picture) }
              }
            }
            #expect(results.count == 4)
            for picture in results {
              #expect(try #require(picture).frame?.packedBytes() == sent.packedBytes())
            }
          }
        }
        while try await group.next() != nil {}
      }
    }
  }

  @Test
  func `a setting out of range stops server and client before they bind or connect`() async throws {
    var configuration = ServerConfiguration()
    configuration.addresses = [.tcp(host: "127.0.0.1", port: 0)]
    configuration.transport.http2FrameBytes = 1
    let server = SidelightServer(configuration: configuration)
    let error = await #expect(throws: ConfigurationError.self) { try await server.run() }
    #expect(error?.setting == "transport.http2FrameBytes")

    let address = Address.tcp(host: "127.0.0.1", port: 9)
    await #expect(throws: ConfigurationError.self) {
      try await SidelightClient.connect(to: address, transport: configuration.transport) { _ in }
    }
  }

  /// Remembers the names of the threads that log.
  final class ThreadNames: LogHandler, Sendable {
    let names = Mutex<[String: String]>([:])
    var metadata: Logger.Metadata {
      get { [:] }
      set {}
    }
    var logLevel: Logger.Level {
      get { .info }
      set {}
    }
    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
      get { nil }
      set {}
    }

    func log(event: LogEvent) {
      self.names.withLock { $0["\(event.message)"] = currentThreadName() }
    }
  }

  @Test(
    arguments: TransportConfiguration.Executor.allCases)
  func `calls run on the configured executor, and filters on neither`(
    executor: TransportConfiguration.Executor
  ) async throws {
    var catalogue = FilterCatalogue.builtIn
    let recorder = FilterThread()
    catalogue.register(
      CustomFilter(
        "whereAmI", "Remembers its thread.",
        frame: { _, _, _ in recorder.name.withLock { $0 = currentThreadName() } }))
    let log = ThreadNames()
    var configuration = ServerConfiguration()
    configuration.addresses = [.tcp(host: "127.0.0.1", port: 0)]
    configuration.transport.executor = executor
    let server = SidelightServer(
      configuration: configuration, catalogue: catalogue, tracer: NoOpTracer(),
      logger: Logger(label: "test") { _ in log })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      let answers = try await withStub(try await server.listeningAddresses[0]) { stub in
        try await stub.converse(
          [.open([.filter("whereAmI")]), .frame(1, .noise(.bgra8, 16, 16))])
      }
      #expect(answers.frames.count == 1)
      group.cancelAll()
    }
    for message in ["session opened", "session ended"] {
      let name = log.names.withLock { $0[message] } ?? "nobody"
      #expect(name.hasPrefix("NIO-") == (executor == .eventLoops), "\(message): \(name)")
    }
    #expect(recorder.name.withLock { $0 } == "sidelight-pixel")
  }
}

/// The name of the thread on which a filter ran.
private final class FilterThread: Sendable {
  let name = Mutex("")
}

private func currentThreadName() -> String {
  let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
  return (name ?? "").trimmingCharacters(in: .newlines)
}
