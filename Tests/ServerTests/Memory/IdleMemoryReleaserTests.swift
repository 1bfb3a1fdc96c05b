import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Tests of the release of unused memory.
@Suite(.timeLimit(.minutes(5))) struct IdleMemoryReleaserTests {
  static let idleTime = Duration.seconds(10)

  static func filterOne(
    _ address: Address, width: Int = 320, height: Int = 240
  ) async throws {
    let answers = try await withStub(address) {
      try await $0.converse(
        [.open([.filter("gaussianBlur")]), .frame(1, .noise(.bgra8, width, height))])
    }
    #expect(answers.frames.count == 1)
  }

  @Test func `idle buffers are released after each idle interval`() async throws {
    let clock = ManualClock()
    var configuration = ServerConfiguration()
    configuration.releaseMemoryAfter = Self.idleTime
    try await withServer(configuration, clock: clock.sessionClock) { server, address in
      for _ in 0 ..< 2 {
        try await Self.filterOne(address)
        #expect(server.poolStatistics.bytesIdle > 0)
        // The first check sees that there was a frame, the second that it was the last.
        for _ in 0 ..< 2 {
          await clock.awaited(within: Self.idleTime)
          clock.advance(by: Self.idleTime)
        }
        try await expectEventually("the pool is empty") { server.poolStatistics.bytesIdle == 0 }
      }
    }
  }

  @Test func `buffers that arriving frames need are kept`() async throws {
    let clock = ManualClock()
    var configuration = ServerConfiguration()
    configuration.releaseMemoryAfter = Self.idleTime
    try await withServer(configuration, clock: clock.sessionClock) { server, address in
      for _ in 0 ..< 4 {
        try await Self.filterOne(address)
        await clock.awaited(within: Self.idleTime)
        clock.advance(by: Self.idleTime)
      }
      await clock.awaited(within: Self.idleTime)
      #expect(server.poolStatistics.bytesIdle > 0)
    }
  }

  @Test func `buffers of an ended load are released while other frames arrive`() async throws {
    let clock = ManualClock()
    var configuration = ServerConfiguration()
    configuration.releaseMemoryAfter = Self.idleTime
    try await withServer(configuration, clock: clock.sessionClock) { server, address in
      try await Self.filterOne(address)
      let small = server.poolStatistics.bytesIdle
      try await Self.filterOne(address, width: 1280, height: 720)
      #expect(server.poolStatistics.bytesIdle > 1280 * 720 * 4)
      for _ in 0 ..< 2 {
        await clock.awaited(within: Self.idleTime)
        clock.advance(by: Self.idleTime)
        await clock.awaited(within: Self.idleTime)
        try await Self.filterOne(address)
      }
      #expect(server.poolStatistics.bytesIdle <= small)
    }
  }
}
