import Foundation
import SidelightClient
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Tests of the client library's sessions after a lost server. The test controls the client's clock
/// and the moments at which servers come and go.
@Suite(.timeLimit(.minutes(5))) struct ClientResumeTests {
  @Test(
    arguments: [true, false])
  func
    `after a kill, selection, parameters and activation are as they were, at the same server or another`(
      isSameAddress: Bool
    ) async throws
  {
    let clock = ClientTestClock()
    let shot = try picture()
    // A path of the test's own: a port might be another's by the time it is bound again.
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("sidelight-\(UInt64.random(in: .min ... .max)).sock").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try await withThrowingDiscardingTaskGroup { group in
      let first = RunningServer(Reconnecting.configuration(), listeningOn: .unix(path: path))
      group.addTask { await first.run() }
      let other = RunningServer(Reconnecting.configuration())
      group.addTask { await other.run() }
      let address = try await first.address
      let addresses = isSameAddress ? [address] : [address, try await other.address]
      try await clock.withSession(at: addresses, Reconnecting.options()) { session in
        var received = ReceivedEvents(session)
        session.select([
          Stage(.filter(FilterCall(name: "sepiaTone")), id: "warm"),
          Stage(.filter(FilterCall(name: "colorInvert")), id: "inverted"),
        ])
        session.update(["intensity": .number(0.5)], ofStage: "warm")
        session.activate(["inverted": false])
        await session.send(VideoFrame(shot))
        let before = try #require(try await received.filtered())

        await first.kill()
        #expect(try await received.interrupted() == Reconnecting.firstDelay)
        try? FileManager.default.removeItem(atPath: path)
        let replacement = RunningServer(Reconnecting.configuration(), listeningOn: address)
        if isSameAddress {
          group.addTask { await replacement.run() }
          _ = try await replacement.address
        }
        await clock.pass(Reconnecting.firstDelay)
        let restored = try #require(try await received.restored())
        #expect(restored.isResumed)
        #expect(restored.address == addresses.last)

        await session.send(VideoFrame(shot))
        let after = try #require(try await received.filtered())
        #expect(after.revision == before.revision)
        let isIdentical = after.picture.bytes == before.picture.bytes
        #expect(isIdentical)
        let isFiltered = after.picture.bytes != shot.bytes
        #expect(isFiltered)
        session.finish()
        try await received.drain()
        #expect(received.outcomes == [1, 2])
        if isSameAddress { await replacement.kill() }
      }
      await first.kill()
      await other.kill()
    }
  }

  @Test func `a change that the server had not answered is asked for again`() async throws {
    let clock = ClientTestClock()
    let shot = try picture()
    try await Reconnecting.withServers { first, second in
      let addresses = [try await first.address, try await second.address]
      try await clock.withSession(at: addresses, Reconnecting.options()) { session in
        var received = ReceivedEvents(session)
        await session.send(VideoFrame(shot))
        _ = try await received.filtered()
        // Frames are not filtered using it, so the server does not report it as in force.
        let requestID = session.select([.filter("colorInvert")])
        _ = try await session.ping()
        await first.kill()
        let delay = try #require(try await received.interrupted())
        // A request without a connection: it changes the earlier request.
        let last = session.activate(["0": true])
        let conditional = session.select([], ifRevision: 1)
        let refused = try await received.rejected()
        #expect(refused?.requestID == conditional)
        #expect(refused?.cause == .connectionLost)
        await clock.pass(delay)
        #expect(try await received.restored()?.isResumed == true)
        await session.send(VideoFrame(shot))
        #expect(try await received.applied()?.requestID == last)
        #expect(requestID < last)
        let frame = try #require(try await received.filtered())
        #expect(frame.disposition == .filtered)
        let isInverted = zip(frame.picture.bytes, shot.bytes).enumerated().allSatisfy {
          $0.offset % 4 == 3 || $0.element.0 == ~$0.element.1
        }
        #expect(isInverted)
      }
    }
  }

  @Test func `a pause is as it was`() async throws {
    let clock = ClientTestClock()
    let shot = try picture()
    try await Reconnecting.withServers { first, second in
      let addresses = [try await first.address, try await second.address]
      try await clock.withSession(at: addresses, Reconnecting.options()) { session in
        var received = ReceivedEvents(session)
        session.pause()
        #expect(try await received.state() == .paused)
        await first.kill()
        await clock.pass(try #require(try await received.interrupted()))
        #expect(try await received.restored()?.isResumed == true)
        #expect(try await received.state() == .paused)
        await session.send(VideoFrame(shot))
        #expect(try await received.dropped()?.reason == .paused)
        session.resume()
        #expect(try await received.state() == .running)
        await session.send(VideoFrame(shot))
        #expect(try await received.filtered()?.sequence == 2)
      }
    }
  }

  @Test
  func `an operator's override is as it was, and in the meantime no original is shown`()
    async throws
  {
    let clock = ClientTestClock()
    let shot = try picture()
    try await Reconnecting.withServers { first, second in
      let addresses = [try await first.address, try await second.address]
      try await clock.withSession(at: addresses, Reconnecting.options()) { session in
        var received = ReceivedEvents(session)
        try await Reconnecting.override(
          session.id, at: addresses[0], with: [.filter("colorInvert")])
        #expect(try await received.state() == .overridden(reason: "indecent"))
        await session.send(VideoFrame(shot))
        let before = try #require(try await received.filtered())
        await first.kill()
        let delay = try #require(try await received.interrupted())
        await session.send(VideoFrame(shot))
        let dropped = try #require(try await received.dropped())
        #expect(dropped.reason == .disconnected)
        #expect(dropped.fallback == nil)
        await clock.pass(delay)
        _ = try await received.restored()
        #expect(try await received.state() == .overridden(reason: "indecent"))
        await session.send(VideoFrame(shot))
        let after = try #require(try await received.filtered())
        let isIdentical = after.picture.bytes == before.picture.bytes
        #expect(isIdentical)
      }
    }
  }

  @Test(
    arguments: [true, false])
  func `with an expired or another fleet's token, a new session opens with the same request`(
    isExpired: Bool
  ) async throws {
    let clock = ClientTestClock()
    let serverClock = ManualClock()
    let shot = try picture()
    let stranger = ResumeKey(id: "a", secret: Data(repeating: 2, count: 32))
    try await Reconnecting.withServers(
      RunningServer(Reconnecting.configuration(), clock: serverClock.sessionClock),
      RunningServer(
        Reconnecting.configuration([isExpired ? Reconnecting.key : stranger]),
        clock: serverClock.sessionClock)
    ) { first, second in
      let addresses = [try await first.address, try await second.address]
      try await clock.withSession(at: addresses, Reconnecting.options()) { session in
        var received = ReceivedEvents(session)
        session.select([
          Stage(.filter(FilterCall(name: "sepiaTone")), id: "warm"),
          Stage(.filter(FilterCall(name: "colorInvert")), id: "inverted"),
        ])
        session.update(["intensity": .number(0.5)], ofStage: "warm")
        session.activate(["inverted": false])
        session.pause(passThrough: true)
        session.resume()
        await session.send(VideoFrame(shot))
        let before = try #require(try await received.filtered())
        await first.kill()
        let delay = try #require(try await received.interrupted())
        if isExpired { serverClock.advance(by: .seconds(301)) }
        await clock.pass(delay)
        let restored = try #require(try await received.restored())
        #expect(!restored.isResumed)
        #expect(restored.address == addresses[1])
        await session.send(VideoFrame(shot))
        let after = try #require(try await received.filtered())
        let isIdentical = after.picture.bytes == before.picture.bytes
        #expect(isIdentical)
      }
    }
  }
}
