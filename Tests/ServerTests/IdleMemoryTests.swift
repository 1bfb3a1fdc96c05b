import SidelightServer
import SidelightWire
import Testing

/// What becomes of memory when no frames come any more.
@Suite(.timeLimit(.minutes(5))) struct IdleMemoryTests {
  static let idleTime = Duration.seconds(10)

  static func filterOne(_ address: Address) async throws {
    let answers = try await withStub(address) {
      try await $0.converse(
        [.open([.filter("gaussianBlur")]), .frame(1, .noise(.bgra8, 320, 240))])
    }
    #expect(answers.frames.count == 1)
  }

  @Test("Idle buffers are given back when there were no frames for the time that is set, each time")
  func released() async throws {
    let clock = ManualClock()
    var configuration = ServerConfiguration()
    configuration.releaseMemoryAfter = Self.idleTime
    try await withServer(configuration, clock: clock.sessionClock) { server, address in
      for _ in 0 ..< 2 {
        try await Self.filterOne(address)
        #expect(server.poolStatistics.bytesIdle > 0)
        // The first look sees that there was a frame, the second that there was none since.
        for _ in 0 ..< 2 {
          await clock.awaited(within: Self.idleTime)
          clock.advance(by: Self.idleTime)
        }
        try await expectEventually("the pool is empty") { server.poolStatistics.bytesIdle == 0 }
      }
    }
  }

  @Test("While frames come nothing is given back")
  func kept() async throws {
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
}
