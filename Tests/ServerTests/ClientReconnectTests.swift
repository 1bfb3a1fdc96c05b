import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import SidelightClient
import SidelightKernels
import SidelightServer
import SidelightWire
import SwiftProtobuf
import Testing

/// Sessions of the client library that lose their server. The client's clock is the test's, and so
/// are the moments at which servers come and go.
@Suite(.timeLimit(.minutes(1))) struct ClientReconnectTests {
  static let key = ResumeKey(id: "a", secret: Data(repeating: 1, count: 32))

  static func configuration(_ keys: [ResumeKey] = [key]) -> ServerConfiguration {
    var configuration = ServerConfiguration()
    configuration.resumeKeys = keys
    return configuration
  }

  static func options(
    _ pipeline: Pipeline = [], dropPolicy: SessionOptions.DropPolicy = .newestWins,
    failOpen: ReconnectPolicy.FailOpen = .original, maxAttempts: Int? = nil
  ) -> SessionOptions {
    SessionOptions(
      pipeline: pipeline, dropPolicy: dropPolicy,
      reconnect: ReconnectPolicy(failOpen: failOpen, maxAttempts: maxAttempts))
  }

  /// The first wait at a chance of a half.
  static let firstDelay = Duration.milliseconds(50)

  // MARK: What comes back

  @Test(
    "After a kill, selection, parameters and activation are as they were, at the same server or another",
    arguments: [true, false])
  func restored(isSameAddress: Bool) async throws {
    let clock = ClientTestClock()
    let shot = try picture()
    // A path of the test's own: a port might be another's by the time it is bound again.
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("sidelight-\(UInt64.random(in: .min ... .max)).sock").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try await withThrowingDiscardingTaskGroup { group in
      let first = RunningServer(Self.configuration(), listeningOn: .unix(path: path))
      group.addTask { await first.run() }
      let other = RunningServer(Self.configuration())
      group.addTask { await other.run() }
      let address = try await first.address
      let addresses = isSameAddress ? [address] : [address, try await other.address]
      try await clock.withSession(at: addresses, Self.options()) { session in
        var told = ToldEvents(session)
        session.select([
          Stage(.filter(FilterCall(name: "sepiaTone")), id: "warm"),
          Stage(.filter(FilterCall(name: "colorInvert")), id: "inverted"),
        ])
        session.update(["intensity": .number(0.5)], ofStage: "warm")
        session.activate(["inverted": false])
        await session.send(VideoFrame(shot))
        let before = try #require(try await told.made())

        await first.kill()
        #expect(try await told.interrupted() == Self.firstDelay)
        try? FileManager.default.removeItem(atPath: path)
        let replacement = RunningServer(Self.configuration(), listeningOn: address)
        if isSameAddress {
          group.addTask { await replacement.run() }
          _ = try await replacement.address
        }
        await clock.pass(Self.firstDelay)
        let restored = try #require(try await told.restored())
        #expect(restored.isResumed)
        #expect(restored.address == addresses.last)

        await session.send(VideoFrame(shot))
        let after = try #require(try await told.made())
        #expect(after.revision == before.revision)
        let isIdentical = after.picture.bytes == before.picture.bytes
        #expect(isIdentical)
        let isFiltered = after.picture.bytes != shot.bytes
        #expect(isFiltered)
        session.finish()
        try await told.drain()
        #expect(told.outcomes == [1, 2])
        if isSameAddress { await replacement.kill() }
      }
      await first.kill()
      await other.kill()
    }
  }

  @Test("A change that the server had not answered is asked for again")
  func unanswered() async throws {
    let clock = ClientTestClock()
    let shot = try picture()
    try await Self.withServers { first, second in
      let addresses = [try await first.address, try await second.address]
      try await clock.withSession(at: addresses, Self.options()) { session in
        var told = ToldEvents(session)
        await session.send(VideoFrame(shot))
        _ = try await told.made()
        // No frame is made with it, so the server does not say that it is in force.
        let requestID = session.select([.filter("colorInvert")])
        _ = try await session.ping()
        await first.kill()
        let delay = try #require(try await told.interrupted())
        // Asked for while there is no connection: it changes what was asked for before.
        let last = session.activate(["0": true])
        let conditional = session.select([], ifRevision: 1)
        let refused = try await told.rejected()
        #expect(refused?.requestID == conditional)
        #expect(refused?.cause == .connectionLost)
        await clock.pass(delay)
        #expect(try await told.restored()?.isResumed == true)
        await session.send(VideoFrame(shot))
        #expect(try await told.applied()?.requestID == last)
        #expect(requestID < last)
        let frame = try #require(try await told.made())
        #expect(frame.disposition == .filtered)
        let isInverted = zip(frame.picture.bytes, shot.bytes).enumerated().allSatisfy {
          $0.offset % 4 == 3 || $0.element.0 == ~$0.element.1
        }
        #expect(isInverted)
      }
    }
  }

  @Test("A pause is as it was")
  func pause() async throws {
    let clock = ClientTestClock()
    let shot = try picture()
    try await Self.withServers { first, second in
      let addresses = [try await first.address, try await second.address]
      try await clock.withSession(at: addresses, Self.options()) { session in
        var told = ToldEvents(session)
        session.pause()
        #expect(try await told.state() == .paused)
        await first.kill()
        await clock.pass(try #require(try await told.interrupted()))
        #expect(try await told.restored()?.isResumed == true)
        #expect(try await told.state() == .paused)
        await session.send(VideoFrame(shot))
        #expect(try await told.dropped()?.reason == .paused)
        session.resume()
        #expect(try await told.state() == .running)
        await session.send(VideoFrame(shot))
        #expect(try await told.made()?.sequence == 2)
      }
    }
  }

  @Test("An operator's override is as it was, and in the meantime no original is shown")
  func override() async throws {
    let clock = ClientTestClock()
    let shot = try picture()
    try await Self.withServers { first, second in
      let addresses = [try await first.address, try await second.address]
      try await clock.withSession(at: addresses, Self.options()) { session in
        var told = ToldEvents(session)
        try await Self.override(session.id, at: addresses[0], with: [.filter("colorInvert")])
        #expect(try await told.state() == .overridden(reason: "indecent"))
        await session.send(VideoFrame(shot))
        let before = try #require(try await told.made())
        await first.kill()
        let delay = try #require(try await told.interrupted())
        await session.send(VideoFrame(shot))
        let dropped = try #require(try await told.dropped())
        #expect(dropped.reason == .disconnected)
        #expect(dropped.standIn == nil)
        await clock.pass(delay)
        _ = try await told.restored()
        #expect(try await told.state() == .overridden(reason: "indecent"))
        await session.send(VideoFrame(shot))
        let after = try #require(try await told.made())
        let isIdentical = after.picture.bytes == before.picture.bytes
        #expect(isIdentical)
      }
    }
  }

  @Test(
    "A token that has expired or is another fleet's: the session is opened anew with what was asked for",
    arguments: [true, false])
  func tokenRefused(isExpired: Bool) async throws {
    let clock = ClientTestClock()
    let serverClock = ManualClock()
    let shot = try picture()
    let stranger = ResumeKey(id: "a", secret: Data(repeating: 2, count: 32))
    try await Self.withServers(
      RunningServer(Self.configuration(), clock: serverClock.sessionClock),
      RunningServer(
        Self.configuration([isExpired ? Self.key : stranger]), clock: serverClock.sessionClock)
    ) { first, second in
      let addresses = [try await first.address, try await second.address]
      try await clock.withSession(at: addresses, Self.options()) { session in
        var told = ToldEvents(session)
        session.select([
          Stage(.filter(FilterCall(name: "sepiaTone")), id: "warm"),
          Stage(.filter(FilterCall(name: "colorInvert")), id: "inverted"),
        ])
        session.update(["intensity": .number(0.5)], ofStage: "warm")
        session.activate(["inverted": false])
        session.pause(passThrough: true)
        session.resume()
        await session.send(VideoFrame(shot))
        let before = try #require(try await told.made())
        await first.kill()
        let delay = try #require(try await told.interrupted())
        if isExpired { serverClock.advance(by: .seconds(301)) }
        await clock.pass(delay)
        let restored = try #require(try await told.restored())
        #expect(!restored.isResumed)
        #expect(restored.address == addresses[1])
        await session.send(VideoFrame(shot))
        let after = try #require(try await told.made())
        let isIdentical = after.picture.bytes == before.picture.bytes
        #expect(isIdentical)
      }
    }
  }

  // MARK: What becomes of frames

  @Test(
    "Every frame has one named outcome, and what stands in for it is as asked",
    arguments: ReconnectPolicy.FailOpen.allCases)
  func outcomes(failOpen: ReconnectPolicy.FailOpen) async throws {
    let clock = ClientTestClock()
    let shots = try (0 ... 7).map { try picture(16, 8, seed: UInt64($0) + 1) }
    try await Self.withServers { first, second in
      let addresses = [try await first.address, try await second.address]
      var options = Self.options([.filter("colorInvert")], failOpen: failOpen)
      options.outputWindow = 1
      try await clock.withSession(at: addresses, options) { session in
        var told = ToldEvents(session)
        // The first comes back and is not taken, so the second is held at the server.
        await session.send(VideoFrame(shots[1]))
        while session.counts.filtered == 0 { await Task.yield() }
        await session.send(VideoFrame(shots[2]))
        _ = try await session.ping()
        await first.kill()
        let made = try #require(try await told.made())
        var dropped = [try #require(try await told.dropped())]
        let delay = try #require(try await told.interrupted())
        for index in 3 ... 4 {
          await session.send(VideoFrame(shots[index]))
          dropped.append(try #require(try await told.dropped()))
        }
        await clock.pass(delay)
        _ = try await told.restored()
        await session.send(VideoFrame(shots[5]))
        #expect(try await told.made()?.sequence == 5)

        #expect(dropped.map(\.reason) == [.connectionLost, .disconnected, .disconnected])
        #expect(dropped.map(\.stage) == [.unknown, .client, .client])
        for frame in dropped {
          switch failOpen {
          case .original:
            #expect(frame.standIn?.kind == .original)
            let isIdentical = frame.standIn?.picture.bytes == shots[Int(frame.sequence)].bytes
            #expect(isIdentical)
          case .lastFrame:
            #expect(frame.standIn?.kind == .lastFrame)
            let isIdentical = frame.standIn?.picture.bytes == made.picture.bytes
            #expect(isIdentical)
          case .nothing: #expect(frame.standIn == nil)
          }
        }
        session.finish()
        try await told.drain()
        #expect(told.outcomes == Array(1 ... 5))
        let counts = session.counts
        #expect(counts.given == 5)
        #expect(counts.undecided == 0)
        #expect(counts.filtered == 2)
        #expect(counts.dropped == [.connectionLost: 1, .disconnected: 2])
      }
    }
  }

  @Test("Where nothing may be dropped, senders wait for the connection; frames in flight are lost")
  func neverDrop() async throws {
    let clock = ClientTestClock()
    let shot = try picture(16, 8)
    var configuration = Self.configuration()
    configuration.framesInFlight = 2
    try await Self.withServers(
      RunningServer(configuration), RunningServer(configuration)
    ) { first, second in
      let addresses = [try await first.address, try await second.address]
      var options = Self.options([.filter("colorInvert")], dropPolicy: .neverDrop)
      options.outputWindow = 1
      try await clock.withSession(at: addresses, options) { session in
        async let senders: Void = {
          for _ in 1 ... 6 { await session.send(VideoFrame(shot)) }
          session.finish()
        }()
        // The first came back, the second is held at the server, the third waits here, and the task
        // waits with the fourth.
        while session.counts.filtered == 0 || session.counts.given < 3 { await Task.yield() }
        _ = try await session.ping()
        await first.kill()
        // Taking an outcome before the loss shows would give the third frame a credit.
        while session.counts.dropped.isEmpty { await Task.yield() }
        var told = ToldEvents(session)
        #expect(try await told.made()?.sequence == 1)
        let lost = try #require(try await told.dropped())
        #expect(lost.sequence == 2)
        #expect(lost.reason == .connectionLost)
        await clock.pass(try #require(try await told.interrupted()))
        for sequence: UInt64 in 3 ... 6 {
          #expect(try await told.made()?.sequence == sequence)
        }
        try await told.drain()
        await senders
        #expect(session.counts.filtered == 5)
        #expect(session.counts.dropped == [.connectionLost: 1])
      }
    }
  }

  @Test("Without a policy the end of the connection ends the session, after every frame's outcome")
  func noPolicy() async throws {
    let shot = try picture(16, 8)
    try await Self.withServers { first, _ in
      let options = SessionOptions(pipeline: [.filter("colorInvert")], outputWindow: 1)
      let error = await Self.status {
        try await SidelightClient.connect(to: try await first.address) { client in
          try await client.withSession(options) { session in
            var told = ToldEvents(session)
            await session.send(VideoFrame(shot))
            while session.counts.filtered == 0 { await Task.yield() }
            await session.send(VideoFrame(shot))
            _ = try await session.ping()
            await first.kill()
            #expect(try await told.made()?.sequence == 1)
            let dropped = try #require(try await told.dropped())
            #expect(dropped.reason == .connectionLost)
            #expect(dropped.standIn == nil)
            let error = await Self.status { try await told.drain() }
            #expect(error?.code == .unavailable, "\(String(describing: error))")
            #expect(await session.send(VideoFrame(shot)) == nil, "the session is over")
            #expect(session.counts.given == 2)
            #expect(session.counts.decided == 2)
          }
        }
      }
      #expect(error?.code == .unavailable, "\(String(describing: error))")
    }
  }

  // MARK: Where and when

  @Test("A server that shuts down lets frames in flight finish, and the session moves to another")
  func drain() async throws {
    let clock = ClientTestClock()
    let gate = Gate()
    let shot = try picture(16, 8)
    try await Self.withServers(
      RunningServer(Self.configuration(), catalogue: gate.catalogue),
      RunningServer(Self.configuration(), catalogue: gate.catalogue)
    ) { first, second in
      let addresses = [try await first.address, try await second.address]
      try await clock.withSession(at: addresses, Self.options([.filter("gate")])) { session in
        var told = ToldEvents(session)
        await session.send(VideoFrame(shot))
        for await _ in gate.entered { break }
        first.drain()
        #expect(try await told.state() == .draining)
        // The old server takes no more, and there is no new one yet.
        await session.send(VideoFrame(shot))
        gate.open(for: 2)
        #expect(try await told.made()?.sequence == 1)
        #expect(try await told.dropped()?.reason == .disconnected)
        await clock.pass(try #require(try await told.interrupted()))
        let restored = try #require(try await told.restored())
        #expect(restored.address == addresses[1])
        #expect(restored.isResumed)
        await session.send(VideoFrame(shot))
        #expect(try await told.made()?.sequence == 3)
        session.finish()
        try await told.drain()
        #expect(told.outcomes == [1, 2, 3])
      }
    }
  }

  @Test("After the last attempt the session ends with its error, and every frame has an outcome")
  func giveUp() async throws {
    let clock = ClientTestClock()
    let shot = try picture()
    try await Self.withServers { first, _ in
      let address = try await first.address
      let error = await Self.status {
        try await clock.withSession(at: [address], Self.options(maxAttempts: 2)) { session in
          var told = ToldEvents(session)
          await session.send(VideoFrame(shot))
          _ = try await told.made()
          await first.kill()
          for expected in [Duration.milliseconds(50), .milliseconds(100)] {
            let delay = try await told.interrupted()
            #expect(delay == expected, "the longest wait doubles")
            await session.send(VideoFrame(shot))
            await clock.pass(expected)
          }
          let error = await Self.status { try await told.drain() }
          #expect(error?.code == .unavailable)
          #expect(told.outcomes == [1, 2, 3])
          #expect(session.counts.decided == 3)
          #expect(await session.send(VideoFrame(shot)) == nil)
        }
      }
      #expect(error?.code == .unavailable)
    }
  }

  @Test("A session that is finished while it waits for a connection ends at once, as it should")
  func finishWhileWaiting() async throws {
    let clock = ClientTestClock()
    try await Self.withServers { first, _ in
      let address = try await first.address
      try await clock.withSession(at: [address], Self.options()) { session in
        var told = ToldEvents(session)
        await first.kill()
        _ = try await told.interrupted()
        session.finish()
        try await told.drain()
      }
    }
  }

  @Test("A server that is full is asked again when it says")
  func exhausted() async throws {
    let clock = ClientTestClock()
    var configuration = Self.configuration()
    configuration.maxSessions = 1
    try await Self.withServers(RunningServer(configuration), RunningServer()) { first, _ in
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
          try await clock.withSession(at: [address], Self.options()) { session in
            var told = ToldEvents(session)
            let restored = try await told.restored()
            #expect(restored?.isResumed == false)
          }
        }
        // A second, as RetryInfo says, and the random part of the first wait.
        await clock.pass(.milliseconds(1050)) {
          end.finish()
          while first.server.sessionCount > 0 { await Task.yield() }
        }
        while try await group.next() != nil {}
      }
    }
  }

  @Test("What the server refuses for good ends the session at the first attempt")
  func refused() async throws {
    let clock = ClientTestClock()
    try await Self.withServers { first, _ in
      let address = try await first.address
      let error = await #expect(throws: RPCError.self) {
        try await clock.withSession(
          at: [address], Self.options([.filter("noSuchFilter")])
        ) { _ in Issue.record("the session was opened") }
      }
      #expect(error?.code == .invalidArgument)
    }
  }

  // MARK: Support

  /// Two servers that share a key, for as long as `body` runs.
  static func withServers(
    _ first: RunningServer = RunningServer(configuration()),
    _ second: RunningServer = RunningServer(configuration()),
    _ body: @Sendable (RunningServer, RunningServer) async throws -> Void
  ) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await first.run() }
      group.addTask { await second.run() }
      do {
        try await body(first, second)
      } catch {
        await first.kill()
        await second.kill()
        throw error
      }
      await first.kill()
      await second.kill()
    }
  }

  /// The status with which `body` fails.
  private static func status(_ body: () async throws -> Void) async -> RPCError? {
    do {
      try await body()
      return nil
    } catch {
      return error as? RPCError
    }
  }

  private static func override(
    _ id: String, at address: Address, with pipeline: Pipeline
  ) async throws {
    guard case .tcp(let host, let port) = address else { return }
    try await withGRPCClient(
      transport: try .http2NIOPosix(
        target: .ipv4(address: host, port: port), transportSecurity: .plaintext)
    ) { client in
      _ = try await Sidelight_V1_Sessions.Client(wrapping: client).overrideSession(
        .with {
          $0.sessionID = id
          $0.pipeline = Sidelight_V1_Pipeline(pipeline)
          $0.timeToLive.seconds = 60
          $0.reason = "indecent"
        })
    }
  }
}
