import GRPCCore
import SidelightClient
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Tests of the outcomes of frames while the client library isn't connected to a server.
@Suite(.timeLimit(.minutes(5))) struct ClientLostFramesTests {
  @Test(
    arguments: ReconnectPolicy.FailOpen.allCases)
  func `every frame has one named outcome, and its replacement is the requested one`(
    failOpen: ReconnectPolicy.FailOpen
  ) async throws {
    let clock = ClientTestClock()
    let shots = try (0 ... 7).map { try picture(16, 8, seed: UInt64($0) + 1) }
    try await Reconnecting.withServers { first, second in
      let addresses = [try await first.address, try await second.address]
      var options = Reconnecting.options([.filter("colorInvert")], failOpen: failOpen)
      options.outputWindow = 1
      try await clock.withSession(at: addresses, options) { session in
        var received = ReceivedEvents(session)
        // The first comes back and is not taken, so the second is held at the server.
        await session.send(VideoFrame(shots[1]))
        while session.counts.filtered == 0 { await Task.yield() }
        await session.send(VideoFrame(shots[2]))
        _ = try await session.ping()
        await first.kill()
        let filtered = try #require(try await received.filtered())
        var dropped = [try #require(try await received.dropped())]
        let delay = try #require(try await received.interrupted())
        for index in 3 ... 4 {
          await session.send(VideoFrame(shots[index]))
          dropped.append(try #require(try await received.dropped()))
        }
        await clock.pass(delay)
        _ = try await received.restored()
        await session.send(VideoFrame(shots[5]))
        #expect(try await received.filtered()?.sequence == 5)

        #expect(dropped.map(\.reason) == [.connectionLost, .disconnected, .disconnected])
        #expect(dropped.map(\.stage) == [.unknown, .client, .client])
        for frame in dropped {
          switch failOpen {
          case .original:
            #expect(frame.fallback?.kind == .original)
            let isIdentical = frame.fallback?.picture.bytes == shots[Int(frame.sequence)].bytes
            #expect(isIdentical)
          case .lastFrame:
            #expect(frame.fallback?.kind == .lastFrame)
            let isIdentical = frame.fallback?.picture.bytes == filtered.picture.bytes
            #expect(isIdentical)
          case .nothing: #expect(frame.fallback == nil)
          }
        }
        session.finish()
        try await received.drain()
        #expect(received.outcomes == Array(1 ... 5))
        let counts = session.counts
        #expect(counts.submitted == 5)
        #expect(counts.pending == 0)
        #expect(counts.filtered == 2)
        #expect(counts.dropped == [.connectionLost: 1, .disconnected: 2])
      }
    }
  }

  @Test
  func `where nothing may be dropped, senders wait for the connection; frames in flight are lost`()
    async throws
  {
    let clock = ClientTestClock()
    let shot = try picture(16, 8)
    var configuration = Reconnecting.configuration()
    configuration.framesInFlight = 2
    try await Reconnecting.withServers(
      RunningServer(configuration), RunningServer(configuration)
    ) { first, second in
      let addresses = [try await first.address, try await second.address]
      var options = Reconnecting.options([.filter("colorInvert")], dropPolicy: .neverDrop)
      options.outputWindow = 1
      try await clock.withSession(at: addresses, options) { session in
        async let senders: Void = {
          for _ in 1 ... 6 { await session.send(VideoFrame(shot)) }
          session.finish()
        }()
        // The first came back, the second is held at the server, the third waits here, and the task
        // waits with the fourth.
        while session.counts.filtered == 0 || session.counts.submitted < 3 { await Task.yield() }
        _ = try await session.ping()
        await first.kill()
        // Taking an outcome before the loss shows would give the third frame a credit.
        while session.counts.dropped.isEmpty { await Task.yield() }
        var received = ReceivedEvents(session)
        #expect(try await received.filtered()?.sequence == 1)
        let lost = try #require(try await received.dropped())
        #expect(lost.sequence == 2)
        #expect(lost.reason == .connectionLost)
        await clock.pass(try #require(try await received.interrupted()))
        for sequence: UInt64 in 3 ... 6 {
          #expect(try await received.filtered()?.sequence == sequence)
        }
        try await received.drain()
        await senders
        #expect(session.counts.filtered == 5)
        #expect(session.counts.dropped == [.connectionLost: 1])
      }
    }
  }

  @Test
  func `without a policy the end of the connection ends the session, after every frame's outcome`()
    async throws
  {
    let shot = try picture(16, 8)
    try await Reconnecting.withServers { first, _ in
      let options = SessionOptions(pipeline: [.filter("colorInvert")], outputWindow: 1)
      let error = await Reconnecting.status {
        try await SidelightClient.connect(to: try await first.address) { client in
          try await client.withSession(options) { session in
            var received = ReceivedEvents(session)
            await session.send(VideoFrame(shot))
            while session.counts.filtered == 0 { await Task.yield() }
            await session.send(VideoFrame(shot))
            _ = try await session.ping()
            await first.kill()
            #expect(try await received.filtered()?.sequence == 1)
            let dropped = try #require(try await received.dropped())
            #expect(dropped.reason == .connectionLost)
            #expect(dropped.fallback == nil)
            let error = await Reconnecting.status { try await received.drain() }
            #expect(error?.code == .unavailable, "\(String(describing: error))")
            #expect(await session.send(VideoFrame(shot)) == nil, "the session is over")
            #expect(session.counts.submitted == 2)
            #expect(session.counts.decided == 2)
          }
        }
      }
      #expect(error?.code == .unavailable, "\(String(describing: error))")
    }
  }
}
