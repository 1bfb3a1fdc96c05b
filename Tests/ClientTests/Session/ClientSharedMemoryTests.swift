import Foundation
import GRPCCore
import SidelightClient
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightTransport
import SidelightWire
import Testing

/// The client library and shared memory, against a real server.
@Suite(.timeLimit(.minutes(5)), .enabled(if: SharedMemoryConfiguration.isSupported))
struct ClientSharedMemoryTests {
  static func options(
    _ pipeline: Pipeline = [], window: Int? = nil, outputs: Int = 3
  ) -> SessionOptions {
    SessionOptions(
      pipeline: pipeline, dropPolicy: .neverDrop, outputWindow: window,
      sharedMemory: SharedMemoryOptions(slotBytes: 1 << 16, inputSlots: 6, outputSlots: outputs))
  }

  static func withSession<Result: Sendable>(
    _ options: SessionOptions = options(),
    _ configuration: ServerConfiguration = .withSharedMemory(),
    catalogue: FilterCatalogue = .builtIn,
    listeningOn address: Address = .tcp(host: "127.0.0.1", port: 0),
    _ body: @escaping @Sendable (FilterSession) async throws -> Result
  ) async throws -> Result {
    try await withServer(
      configuration, catalogue: catalogue, listeningOn: [address]
    ) { _, address in
      try await SidelightClient.connect(to: address) { client in
        try await client.withSession(options, body)
      }
    }
  }

  /// Sends a picture, and waits for it to come back.
  static func roundTrip(
    _ picture: Frame, _ session: FilterSession,
    _ received: inout ReceivedEvents
  ) async throws -> Frame {
    await session.send(VideoFrame(picture))
    let frame = try await received.filtered()
    return try #require(frame?.picture.frame)
  }

  @Test(
    arguments: [false, true])
  func `pixels travel in shared memory by themselves, over TCP and a Unix socket`(isUnix: Bool)
    async throws
  {
    let path = FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString.prefix(8)).sock"
    let address: Address = isUnix ? .unix(path: path) : .tcp(host: "127.0.0.1", port: 0)
    let inverted: Pipeline = [.filter("colorInvert")]
    try await Self.withSession(Self.options(inverted), listeningOn: address) { session in
      #expect(session.usesSharedMemory)
      var received = ReceivedEvents(session)
      for seed: UInt64 in 1 ... 30 {
        let sent = try picture(64, 48, seed: seed)
        let result = try await Self.roundTrip(sent, session, &received)
        #expect(session.isInSharedMemory(result))
        let isRight = zip(result.bytes, sent.bytes).enumerated().allSatisfy { index, pair in
          pair.0 == (index % 4 == 3 ? pair.1 : 255 - pair.1)
        }
        #expect(isRight, "\(seed)")
      }
    }
  }

  @Test func `a client asks again for its ring while the descriptor socket is busy`() async throws {
    let path = FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString.prefix(8)).ring"
    let configuration = ServerConfiguration.withSharedMemory {
      $0.socketPath = path
      $0.maxPendingConnections = 1
      $0.descriptorSocketTimeout = .milliseconds(300)
    }
    try await withServer(configuration) { _, address in
      // Occupies the only place until the server closes it.
      let silent = try DescriptorSocket.connect(to: path)
      try await SidelightClient.connect(to: address) { client in
        try await client.withSession(Self.options()) { session in
          #expect(session.usesSharedMemory)
        }
      }
      withExtendedLifetime(silent) {}
    }
  }

  @Test
  func `without an offer, without a wish, and without the descriptor socket, pixels travel inline`()
    async throws
  {
    let sent = try picture(64, 48)
    let path = FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString.prefix(8)).ring"
    var noWish = Self.options()
    noWish.sharedMemory = nil
    for (options, configuration) in [
      (Self.options(), ServerConfiguration()), (noWish, .withSharedMemory()),
      (Self.options(), .withSharedMemory { $0.socketPath = path }),
    ] {
      try await withServer(configuration) { _, address in
        unlink(path)
        try await SidelightClient.connect(to: address) { client in
          try await client.withSession(options) { session in
            #expect(!session.usesSharedMemory)
            var received = ReceivedEvents(session)
            let result = try await Self.roundTrip(sent, session, &received)
            let isIdentical = result.bytes == sent.bytes
            #expect(isIdentical)
          }
        }
      }
    }
  }

  @Test func `a ring beyond the server's limits is done without`() async throws {
    let configuration = ServerConfiguration.withSharedMemory { $0.maxSessionBytes = 1 << 16 }
    try await Self.withSession(Self.options(), configuration) { session in
      #expect(!session.usesSharedMemory)
    }
  }

  @Test
  func `a frame of the session's is written where the server reads it, and sent again as it is`()
    async throws
  {
    let sent = try picture(64, 48)
    try await Self.withSession(Self.options([.filter("colorInvert")])) { session in
      var received = ReceivedEvents(session)
      var mutableFrame = try session.makeFrame(sent.geometry)
      mutableFrame.copy(sent)
      let frame = mutableFrame.finish()
      #expect(session.isInSharedMemory(frame))
      let results = [
        try await Self.roundTrip(frame, session, &received),
        try await Self.roundTrip(frame, session, &received),
      ]
      let isIdentical = results[0].bytes == results[1].bytes && frame.bytes == sent.bytes
      #expect(isIdentical)
    }
  }

  @Test
  func `frames beyond the slots, and those too large for them, use the pool, and travel too`()
    async throws
  {
    let small = try picture(64, 48)
    let large = try picture(256, 128)
    try await Self.withSession { session in
      var received = ReceivedEvents(session)
      var frames: [Frame] = []
      for _ in 0 ..< 8 {
        var frame = try session.makeFrame(small.geometry)
        frame.copy(small)
        frames.append(frame.finish())
      }
      #expect(
        frames.map(session.isInSharedMemory) == Array(repeating: true, count: 6) + [false, false])
      for frame in frames + [large] {
        let result = try await Self.roundTrip(frame, session, &received)
        let isIdentical = result.bytes == frame.bytes
        #expect(isIdentical)
      }
      frames = []
      #expect(session.isInSharedMemory(try session.makeFrame(small.geometry).finish()))
    }
  }

  @Test(
    arguments: [nil, 1])
  func `a picture that is kept is not written again, and pictures keep coming in slots`(
    window: Int?
  ) async throws {
    try await Self.withSession(Self.options([.filter("colorInvert")], window: window)) { session in
      var received = ReceivedEvents(session)
      let first = try await Self.roundTrip(try picture(64, 48), session, &received)
      let bytes = first.bytes
      // As a renderer does, the last picture is let go when the next is there.
      var shown = first
      for seed: UInt64 in 2 ... 100 {
        shown = try await Self.roundTrip(try picture(64, 48, seed: seed), session, &received)
        #expect(session.isInSharedMemory(shown), "\(seed)")
      }
      let isIdentical = first.bytes == bytes
      #expect(isIdentical)
      #expect(session.isInSharedMemory(first))
    }
  }

  @Test func `pictures outlive their session, its connection and its server`() async throws {
    let sent = try picture(64, 48)
    let results = try await Self.withSession(Self.options([.filter("colorInvert")])) { session in
      var received = ReceivedEvents(session)
      var mutableFrame = try session.makeFrame(sent.geometry)
      mutableFrame.copy(sent)
      let frame = mutableFrame.finish()
      let result = try await Self.roundTrip(sent, session, &received)
      #expect(session.isInSharedMemory(result))
      return [frame, result]
    }
    let isIdentical = results[0].bytes == sent.bytes
    #expect(isIdentical)
    #expect(results[1].bytes[0] == 255 - sent.bytes[0])
  }

  @Test
  func `after a reconnect there is another ring, and frames of the first are copied`() async throws
  {
    let clock = ClientTestClock()
    let sent = try picture(64, 48)
    try await withThrowingDiscardingTaskGroup { group in
      let servers = (0 ..< 2).map { _ in RunningServer(.withSharedMemory()) }
      for server in servers { group.addTask { await server.run() } }
      let addresses = [try await servers[0].address, try await servers[1].address]
      var options = Self.options([.filter("colorInvert")])
      options.reconnect = ReconnectPolicy()
      options.dropPolicy = .newestWins
      try await clock.withSession(at: addresses, options) { session in
        var received = ReceivedEvents(session)
        var mutableFrame = try session.makeFrame(sent.geometry)
        mutableFrame.copy(sent)
        let frame = mutableFrame.finish()
        await session.send(VideoFrame(frame))
        let before = try #require(try await received.filtered())
        #expect(session.isInSharedMemory(before.picture))
        let bytes = before.picture.bytes

        await servers[0].kill()
        #expect(try await received.interrupted() != nil)
        await clock.pass(Reconnecting.firstDelay)
        _ = try #require(try await received.restored())
        #expect(session.usesSharedMemory)
        #expect(!session.isInSharedMemory(before.picture))
        await session.send(VideoFrame(frame))
        let after = try #require(try await received.filtered())
        #expect(session.isInSharedMemory(after.picture))
        let isIdentical = after.picture.bytes == bytes && before.picture.bytes == bytes
        #expect(isIdentical)
      }
      for server in servers { await server.kill() }
    }
  }
}
