import SidelightClient
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Tests of the client library's requests and events in mid-call, with a real server.
@Suite(.timeLimit(.minutes(5))) struct ClientControlTests {
  /// Runs a session whose two clocks are the test's.
  static func withSession(
    _ options: SessionOptions = SessionOptions(),
    _ configuration: ServerConfiguration = ServerConfiguration(),
    catalogue: FilterCatalogue = .builtIn,
    _ body: @Sendable (FilterSession) async throws -> Void
  ) async throws {
    try await withServer(
      configuration, catalogue: catalogue, clock: ManualClock().sessionClock
    ) { _, address in
      try await ClientTestClock().withSession(at: [address], options, body)
    }
  }

  static let pipeline: Pipeline = [
    Stage(.filter(FilterCall(name: "sepiaTone")), id: "warm"),
    Stage(.filter(FilterCall(name: "colorInvert")), id: "inverted"),
  ]

  // MARK: Control

  @Test
  func `parameters and activation change from one frame to the next, and back`() async throws {
    let shot = try picture()
    try await Self.withSession(SessionOptions(pipeline: Self.pipeline)) { session in
      var received = ReceivedEvents(session)
      var pictures: [[UInt8]] = []
      let changes: [(FilterSession) -> UInt64] = [
        { $0.update(["intensity": .number(0)], ofStage: "warm") },
        { $0.activate(["inverted": false]) },
        { $0.update(["warm": ["intensity": .number(1)]]) },
        { $0.activate(["inverted": true]) },
      ]
      await session.send(VideoFrame(shot))
      #expect(try await received.applied()?.requestID == 0, "the first pipeline")
      pictures.append(try #require(try await received.filtered()).picture.bytes)
      for (index, change) in changes.enumerated() {
        let requestID = change(session)
        await session.send(VideoFrame(shot))
        let applied = try #require(try await received.applied())
        #expect(applied.requestID == requestID)
        #expect(applied.revision == UInt64(index) + 2)
        #expect(applied.firstSequence == UInt64(index) + 2)
        pictures.append(try #require(try await received.filtered()).picture.bytes)
      }
      let isRestored = pictures[0] == pictures[4]
      #expect(isRestored)
      #expect(Set(pictures).count == 4, "each change is to be seen")
    }
  }

  @Test
  func `a change for another revision than that in force is refused, and so is one that cannot be`()
    async throws
  {
    try await Self.withSession(SessionOptions(pipeline: Self.pipeline)) { session in
      var received = ReceivedEvents(session)
      for (requestID, cause, words) in [
        (session.select([], ifRevision: 7), RejectedChange.Cause.otherRevision, "7"),
        (session.update(["intensity": .text("much")], ofStage: "warm"), .invalid, "intensity"),
        (session.activate(["cold": true]), .invalid, "cold"),
      ] {
        let refused = try #require(try await received.rejected())
        #expect(refused.requestID == requestID)
        #expect(refused.cause == cause)
        #expect(refused.message.contains(words))
      }
      let accepted = session.activate(["warm": false], ifRevision: 1)
      await session.send(VideoFrame(try picture()))
      #expect(try await received.applied()?.requestID == accepted)
    }
  }

  @Test(arguments: [true, false])
  func `a pause ends frames or lets them pass, as asked, until it is over`(passThrough: Bool)
    async throws
  {
    let shot = try picture()
    try await Self.withSession(SessionOptions(pipeline: Self.pipeline)) { session in
      var received = ReceivedEvents(session)
      session.pause(passThrough: passThrough)
      #expect(try await received.state() == .paused)
      await session.send(VideoFrame(shot))
      let outcome = try #require(try await received.outcome())
      switch outcome {
      case .filtered(let frame):
        #expect(passThrough)
        #expect(frame.disposition == .passedThrough)
        let isIdentical = outcome.picture?.bytes == shot.bytes
        #expect(isIdentical)
      case .dropped(let frame):
        #expect(!passThrough)
        #expect(frame.reason == .paused)
        #expect(frame.stage == .arrival)
        #expect(outcome.picture == nil)
      }
      session.resume()
      #expect(try await received.state() == .running)
      await session.send(VideoFrame(shot))
      #expect(try await received.filtered()?.disposition == .filtered)
    }
  }

  @Test
  func `a ping measures the round trip and how far the server's clock is ahead`() async throws {
    try await Self.withSession { session in
      let reading = try await session.ping()
      #expect(reading.roundTripTime == .zero, "neither clock moved")
      // 1,700,000,000 + 1,000 seconds there, 1,600,000,000 + 500 here.
      #expect(reading.clockOffset == .seconds(100_000_500))
    }
  }

  @Test func `a ping whose task is cancelled ends, and the next is answered`() async throws {
    try await Self.withSession { session in
      let cancelled = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await session.ping()
      }
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      _ = try await session.ping()
    }
  }

  // MARK: Options

  @Test func `the rate, the budget and must-process reach the server`() async throws {
    // The server's clock does not advance: a second frame is always too early, and never late.
    let shot = try picture()
    try await Self.withSession(SessionOptions(budget: .milliseconds(20), maxFPS: 10)) { session in
      var received = ReceivedEvents(session)
      await session.send(VideoFrame(shot))
      let first = try await received.filtered()
      #expect(first?.sequence == 1)
      await session.send(VideoFrame(shot, budget: .zero, priority: 3))
      #expect(try await received.dropped()?.reason == .rateLimited)
      await session.send(VideoFrame(shot, mustProcess: true))
      #expect(try await received.filtered()?.sequence == 3)
    }
  }

  @Test func `a frame's own budget holds in place of the session's`() async throws {
    let clock = ManualClock()
    let gate = Gate()
    let shot = try picture(16, 8)
    try await withServer(catalogue: gate.catalogue, clock: clock.sessionClock) { _, address in
      let options = SessionOptions(pipeline: [.filter("gate")], budget: .seconds(60))
      try await ClientTestClock().withSession(at: [address], options) { session in
        var received = ReceivedEvents(session)
        await session.send(VideoFrame(shot))
        for await _ in gate.entered.prefix(1) {}
        await session.send(VideoFrame(shot, budget: .milliseconds(5)))
        _ = try await session.ping()
        clock.advance(by: .milliseconds(8))
        gate.open(for: 1)
        #expect(try await received.filtered()?.sequence == 1)
        let late = try #require(try await received.dropped())
        #expect(late.reason == .lateInPipeline)
        #expect(late.stage == .mailbox)
        #expect(late.lateness == .milliseconds(3))
      }
    }
  }

  struct Broken: Error {}

  @Test(arguments: FailurePolicy.allCases)
  func `the failure policy reaches the server`(policy: FailurePolicy) async throws {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(CustomFilter("broken", "Throws.", frame: { _, _, _ in throw Broken() }))
    let shot = try picture()
    try await Self.withSession(
      SessionOptions(pipeline: [.filter("broken")], failurePolicy: policy), catalogue: catalogue
    ) { session in
      var received = ReceivedEvents(session)
      await session.send(VideoFrame(shot))
      let outcome = try #require(try await received.outcome())
      switch (policy, outcome) {
      case (.passThrough, .filtered(let frame)):
        let isIdentical = frame.picture.bytes == shot.bytes
        #expect(isIdentical)
        #expect(frame.failure?.contains("broken") == true)
      case (.drop, .dropped(let frame)):
        #expect(frame.reason == .stageFailed)
        #expect(frame.diagnostic?.contains("broken") == true)
      case (.blur, .filtered(let frame)):
        let isIdentical = frame.picture.bytes == shot.bytes
        #expect(!isIdentical)
        #expect(frame.disposition == .degraded)
      default: Issue.record("\(policy) came to \(outcome)")
      }
    }
  }

  @Test func `where only analyses are of interest, frames come back as they were`() async throws {
    let shot = try picture()
    try await Self.withSession(
      SessionOptions(pipeline: Self.pipeline, analysisOnly: true)
    ) { session in
      var received = ReceivedEvents(session)
      await session.send(VideoFrame(shot))
      let frame = try #require(try await received.filtered())
      let isIdentical = frame.picture.bytes == shot.bytes
      #expect(isIdentical)
      #expect(frame.disposition == .passedThrough)
    }
  }

  @Test
  func `an outcome that is taken acknowledges its picture, and the next comes`() async throws {
    let shot = try picture(16, 8)
    try await Self.withSession(
      SessionOptions(dropPolicy: .neverDrop, outputWindow: 1)
    ) { session in
      var received = ReceivedEvents(session)
      // The sending side stays open: without acknowledgements the second would never come.
      for sequence: UInt64 in 1 ... 10 {
        await session.send(VideoFrame(shot))
        let frame = try await received.filtered()
        #expect(frame?.sequence == sequence)
      }
    }
  }

  @Test func `values out of range are refused by the server, by name`() async throws {
    for (options, field) in [
      (SessionOptions(mailboxDepth: 65), "mailbox_depth"),
      (SessionOptions(maxFPS: 2000), "max_fps"),
      (SessionOptions(outputWindow: 65), "output_window"),
      (SessionOptions(statsInterval: .milliseconds(1)), "stats_interval"),
    ] {
      await #expect {
        try await Self.withSession(options) { _ in }
      } throws: { "\($0)".contains(field) }
    }
  }

  // MARK: Sending

  @Test
  func `cancelling one send ends its wait and nothing else; its frame was never given`()
    async throws
  {
    let gate = Gate()
    let shot = try picture(16, 8)
    var configuration = ServerConfiguration()
    configuration.framesInFlight = 1
    try await Self.withSession(
      SessionOptions(pipeline: [.filter("gate")], dropPolicy: .neverDrop), configuration,
      catalogue: gate.catalogue
    ) { session in
      await session.send(VideoFrame(shot))
      for await _ in gate.entered.prefix(1) {}
      // In flight is one, and one waits for its credit: a third finds no room.
      await session.send(VideoFrame(shot))
      let third = Task { await session.send(VideoFrame(shot)) }
      third.cancel()
      #expect(await third.value == nil)
      #expect(session.counts.submitted == 2)
      gate.open(for: 10)
      var received = ReceivedEvents(session)
      #expect(try await received.filtered()?.sequence == 1)
      #expect(await session.send(VideoFrame(shot)) == 3)
      session.finish()
      try await received.drain()
      #expect(received.outcomes == [1, 2, 3])
      #expect(session.counts.filtered == 3)
    }
  }

  @Test func `several tasks may send; every frame has its own number and outcome`() async throws {
    let shot = try picture(16, 8)
    try await Self.withSession(SessionOptions(dropPolicy: .neverDrop)) { session in
      async let sending = withTaskGroup(of: [UInt64].self) { group in
        for _ in 0 ..< 8 {
          group.addTask {
            var numbers: [UInt64] = []
            for _ in 0 ..< 25 {
              if let number = await session.send(VideoFrame(shot)) { numbers.append(number) }
            }
            return numbers
          }
        }
        let numbers = await group.reduce(into: []) { $0 += $1 }
        session.finish()
        return numbers
      }
      var received = ReceivedEvents(session)
      try await received.drain()
      #expect(received.outcomes == Array(1 ... 200))
      #expect(await sending.sorted() == Array(1 ... 200))
    }
  }

  @Test func `the client's counts and the server's agree, and each sums`() async throws {
    let shot = try picture(16, 8)
    try await Self.withSession(SessionOptions(pipeline: Self.pipeline)) { session in
      var received = ReceivedEvents(session)
      for index in 0 ..< 60 {
        // More at once than may be in flight: some are displaced, here or at the server.
        for _ in 0 ..< 8 { await session.send(VideoFrame(shot)) }
        if index == 20 { session.activate(["warm": false, "inverted": false]) }
        if index == 40 { session.pause() }
        let counts = session.counts
        #expect(counts.submitted == counts.decided + counts.pending)
        while received.outcomes.last != counts.submitted { _ = try await received.outcome() }
      }
      session.finish()
      let server = try #require(
        try await received.next { if case .finalCounts(let counts) = $0 { counts } else { nil } })
      try await received.drain()
      let counts = session.counts
      #expect(counts.submitted == 480)
      #expect(counts.pending == 0)
      #expect(counts.submitted == counts.decided)
      #expect(received.outcomes == Array(1 ... 480))
      let dropped = counts.dropped.filter { $0.key != .supersededBeforeSending }
      let unsent = counts.dropped[.supersededBeforeSending] ?? 0
      #expect(server.received == counts.submitted - unsent)
      #expect(server.filtered == counts.filtered)
      #expect(server.passedThrough == counts.passedThrough)
      #expect(server.degraded == counts.degraded)
      #expect(server.dropped == dropped)
      #expect(counts.filtered > 0)
      #expect(counts.passedThrough > 0)
    }
  }
}
