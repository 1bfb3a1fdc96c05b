import GRPCCore
import SidelightClient
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// The client library's search for another server, and its end.
@Suite(.timeLimit(.minutes(5))) struct ClientReconnectTests {
  @Test
  func `a server that shuts down and finds no other lets frames in flight finish`() async throws {
    let (clock, serverClock) = (ClientTestClock(), ManualClock())
    let gate = Gate()
    let shot = try picture(16, 8)
    try await Reconnecting.withServers(
      RunningServer(
        Reconnecting.configuration(), catalogue: gate.catalogue, clock: serverClock.sessionClock),
      RunningServer(
        Reconnecting.configuration(), catalogue: gate.catalogue, clock: serverClock.sessionClock)
    ) { first, second in
      let addresses = [try await first.address, try await second.address]
      try await clock.withSession(at: addresses, Reconnecting.options([.filter("gate")])) {
        session in
        var received = ReceivedEvents(session)
        await session.send(VideoFrame(shot))
        for await _ in gate.entered { break }
        first.drain()
        // The server asks for a move. The client's clock stands, so the move does not begin.
        await clock.expectWait(Reconnecting.firstDelay)
        while !serverClock.isAwaited(in: .milliseconds(2500)) { await Task.yield() }
        serverClock.advance(by: .milliseconds(2500))
        #expect(try await received.state() == .draining)
        // The old server takes no more frames, and the new one doesn't exist yet.
        await session.send(VideoFrame(shot))
        gate.open(for: 2)
        #expect(try await received.filtered()?.sequence == 1)
        #expect(try await received.dropped()?.reason == .disconnected)
        let delay = try #require(try await received.interrupted())
        await clock.pass(delay)
        let restored = try #require(try await received.restored())
        #expect(restored.address == addresses[1])
        #expect(restored.isResumed)
        await session.send(VideoFrame(shot))
        #expect(try await received.filtered()?.sequence == 3)
        session.finish()
        try await received.drain()
        #expect(received.outcomes == [1, 2, 3])
      }
    }
  }

  @Test
  func `after the last attempt the session ends with its error, and every frame has an outcome`()
    async throws
  {
    let clock = ClientTestClock()
    let shot = try picture()
    try await Reconnecting.withServers { first, _ in
      let address = try await first.address
      let error = await Reconnecting.status {
        try await clock.withSession(at: [address], Reconnecting.options(maxAttempts: 2)) {
          session in
          var received = ReceivedEvents(session)
          await session.send(VideoFrame(shot))
          _ = try await received.filtered()
          await first.kill()
          for expected in [Duration.milliseconds(50), .milliseconds(100)] {
            let delay = try await received.interrupted()
            #expect(delay == expected, "the longest wait doubles")
            await session.send(VideoFrame(shot))
            await clock.pass(expected)
          }
          let error = await Reconnecting.status { try await received.drain() }
          #expect(error?.code == .unavailable)
          #expect(received.outcomes == [1, 2, 3])
          #expect(session.counts.decided == 3)
          #expect(await session.send(VideoFrame(shot)) == nil)
        }
      }
      #expect(error?.code == .unavailable)
    }
  }

  @Test
  func `a session that is finished while it waits for a connection ends at once, as it should`()
    async throws
  {
    let clock = ClientTestClock()
    try await Reconnecting.withServers { first, _ in
      let address = try await first.address
      try await clock.withSession(at: [address], Reconnecting.options()) { session in
        var received = ReceivedEvents(session)
        await first.kill()
        _ = try await received.interrupted()
        session.finish()
        try await received.drain()
      }
    }
  }

  @Test func `a server that is full is asked again when it says`() async throws {
    let clock = ClientTestClock()
    var configuration = Reconnecting.configuration()
    configuration.maxSessions = 1
    try await Reconnecting.withServers(RunningServer(configuration), RunningServer()) { first, _ in
      let address = try await first.address
      try await withThrowingTaskGroup(of: Void.self) { group in
        let (ends, end) = AsyncStream<Never>.makeStream()
        let (opened, isOpened) = AsyncStream<Never>.makeStream()
        group.addTask {
          try await SidelightClient.connect(to: address) { client in
            try await client.withSession { _ in
              isOpened.finish()
              for await _ in ends {}
            }
          }
        }
        for await _ in opened {}
        group.addTask {
          try await clock.withSession(at: [address], Reconnecting.options()) { session in
            var received = ReceivedEvents(session)
            let restored = try await received.restored()
            #expect(restored?.isResumed == false)
          }
        }
        // A second, from RetryInfo, and the random part of the first wait.
        await clock.pass(.milliseconds(1050)) {
          end.finish()
          while first.server.sessionCount > 0 { await Task.yield() }
        }
        while try await group.next() != nil {}
      }
    }
  }

  @Test
  func `a permanent refusal by the server ends the session at the first attempt`() async throws {
    let clock = ClientTestClock()
    try await Reconnecting.withServers { first, _ in
      let address = try await first.address
      let error = await #expect(throws: RPCError.self) {
        try await clock.withSession(
          at: [address], Reconnecting.options([.filter("noSuchFilter")])
        ) { _ in Issue.record("the session was opened") }
      }
      #expect(error?.code == .invalidArgument)
    }
  }
}
