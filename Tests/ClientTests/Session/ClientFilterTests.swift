import GRPCCore
import SidelightClient
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import Synchronization
import Testing

/// `FilterSession.filter(_:)` against a real server.
@Suite(.timeLimit(.minutes(5))) struct ClientFilterTests {
  private struct BrokenCamera: Error {}

  private static let pipelines: [(Pipeline, FilteredFrame.Disposition)] = [
    ([], .passedThrough), ([.filter("colorInvert")], .filtered),
  ]

  @Test(
    arguments: Self.pipelines)
  func `one loop sends a source and receives each frame in order`(
    pipeline: Pipeline, disposition: FilteredFrame.Disposition
  ) async throws {
    let shots = try (1 ... 50).map { try picture(16, 16, seed: UInt64($0)) }
    let options = SessionOptions(pipeline: pipeline, dropPolicy: .neverDrop)
    try await ClientLibraryTests.session(options) { session in
      var frames: [FilteredFrame] = []
      for try await frame in session.filter(Self.source(shots)) { frames.append(frame) }
      #expect(frames.map(\.sequence) == Array(1 ... 50))
      #expect(frames.map(\.rtpTimestamp) == Array(1 ... 50))
      #expect(frames.allSatisfy { $0.disposition == disposition })
      let isUnchanged = frames.map(\.picture.bytes) == shots.map(\.bytes)
      #expect(isUnchanged == (disposition == .passedThrough))
      #expect(session.counts.submitted == 50)
      #expect(session.counts.pending == 0)
    }
  }

  @Test func `dropped frames are skipped and counted`() async throws {
    let shot = try picture()
    try await ClientLibraryTests.session(.init(dropPolicy: .neverDrop)) { session in
      session.pause()
      var frames: [UInt64] = []
      for try await frame in session.filter(Self.source([shot, shot, shot])) {
        frames.append(frame.sequence)
      }
      #expect(frames == [])
      #expect(session.counts.dropped == [.paused: 3])
    }
  }

  @Test
  func `a source that is faster than the session loses frames, but not the newest`() async throws {
    let shot = try picture()
    try await ClientLibraryTests.session(.init()) { session in
      var frames: [UInt64] = []
      for try await frame in session.filter(Self.source(Array(repeating: shot, count: 500))) {
        frames.append(frame.sequence)
      }
      #expect(frames == frames.sorted())
      #expect(frames.last == 500)
      let dropped = session.counts.dropped.values.reduce(0, +)
      #expect(UInt64(frames.count) + dropped == 500)
    }
  }

  @Test
  func `where nothing may be dropped, the source is read no faster than the loop takes frames`()
    async throws
  {
    let shot = try picture(16, 16)
    var configuration = ServerConfiguration()
    configuration.framesInFlight = 2
    try await withServer(configuration) { _, address in
      try await SidelightClient.connect(to: address) { client in
        try await client.withSession(.init(dropPolicy: .neverDrop)) { session in
          var received: UInt64 = 0
          for try await frame in session.filter(Self.source(Array(repeating: shot, count: 40))) {
            received += 1
            #expect(frame.sequence == received)
            guard received % 10 == 1 else { continue }
            // The answers show that everything that could be sent meanwhile was sent.
            for _ in 0 ..< 3 { _ = try await session.ping() }
            // Two are in flight, one waits in the window, and one outcome may be on its way here.
            #expect(session.counts.submitted <= received + 4)
          }
          #expect(received == 40)
        }
      }
    }
  }

  @Test
  func `the error of the source is thrown after the frames that came before it`() async throws {
    let shot = try picture()
    try await ClientLibraryTests.session(.init(dropPolicy: .neverDrop)) { session in
      var frames: [UInt64] = []
      let source = AsyncThrowingStream<VideoFrame, any Error> { continuation in
        for _ in 0 ..< 3 { continuation.yield(VideoFrame(shot)) }
        continuation.finish(throwing: BrokenCamera())
      }
      await #expect(throws: BrokenCamera.self) {
        for try await frame in session.filter(source) { frames.append(frame.sequence) }
      }
      #expect(frames == [1, 2, 3])
    }
  }

  @Test func `leaving the loop ends the source, and the session stays open`() async throws {
    let shot = try picture()
    try await ClientLibraryTests.session(.init()) { session in
      let (source, continuation, ended) = Self.camera()
      continuation.yield(VideoFrame(shot))
      for try await frame in session.filter(source) {
        #expect(frame.sequence == 1)
        break
      }
      await ended.wait()
      continuation.yield(VideoFrame(shot))
      _ = try await session.ping()
      #expect(session.counts.submitted == 1)
      let next = await session.send(VideoFrame(shot))
      #expect(next == 2)
    }
  }

  @Test
  func `cancelling the loop's task ends the source, and the loop throws CancellationError`()
    async throws
  {
    let shot = try picture()
    try await ClientLibraryTests.session(.init()) { session in
      let (source, continuation, ended) = Self.camera()
      let received = Event()
      continuation.yield(VideoFrame(shot))
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for try await _ in session.filter(source) { received.happen() }
        }
        await received.wait()
        group.cancelAll()
        do {
          try await group.waitForAll()
          Issue.record("the loop ended without an error")
        } catch is CancellationError {}
      }
      await ended.wait()
      #expect(session.counts.submitted == 1)
    }
  }

  @Test func `a lost connection ends the source, and the loop throws its error`() async throws {
    let shot = try picture()
    let server = RunningServer()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await server.run() }
      let (source, continuation, ended) = Self.camera()
      continuation.yield(VideoFrame(shot))
      let error = await #expect(throws: RPCError.self) {
        try await SidelightClient.connect(to: try await server.address) { client in
          try await client.withSession { session in
            for try await _ in session.filter(source) { await server.kill() }
          }
        }
      }
      await server.kill()
      #expect(error?.code == .unavailable)
      await ended.wait()
    }
  }

  /// The three faces of the one stream of a session.
  enum Face: CaseIterable {
    case events
    case outcomes
    case filter

    /// Takes one element with a new iterator.
    func takeOne(of session: FilterSession, source: AsyncStream<VideoFrame>) async throws {
      switch self {
      case .events: for try await _ in session.events { return }
      case .outcomes: for try await _ in session.outcomes { return }
      case .filter: for try await _ in session.filter(source) { return }
      }
    }
  }

  @Test(
    arguments: Face.allCases, Face.allCases)
  func `a second iterator of a session is an error, and reads no source`(first: Face, second: Face)
    async throws
  {
    let shot = try picture()
    try await ClientLibraryTests.session(.init()) { session in
      await session.send(VideoFrame(shot))
      try await first.takeOne(of: session, source: AsyncStream { $0.finish() })
      let isRead = Event()
      let error = await #expect(throws: SessionAlreadyIteratedError.self) {
        try await second.takeOne(
          of: session,
          source: AsyncStream {
            isRead.happen()
            return nil
          })
      }
      #expect(error?.description.contains("one stream") == true)
      #expect(!isRead.hasHappened)
    }
  }

  @Test func `a second iterator takes nothing from the first`() async throws {
    let shot = try picture()
    try await ClientLibraryTests.session(.init(dropPolicy: .neverDrop)) { session in
      var outcomes = session.outcomes.makeAsyncIterator()
      await session.send(VideoFrame(shot))
      let first = try await outcomes.next()
      #expect(first?.sequence == 1)
      await session.send(VideoFrame(shot))
      for _ in 0 ..< 2 {
        await #expect(throws: SessionAlreadyIteratedError.self) {
          for try await _ in session.events {}
        }
      }
      let second = try await outcomes.next()
      #expect(second?.sequence == 2)
      session.finish()
      let end = try await outcomes.next()
      #expect(end?.sequence == nil)
    }
  }

  /// A source of frames that are numbered from 1 in their RTP timestamps.
  private static func source(_ pictures: [Frame]) -> AsyncStream<VideoFrame> {
    AsyncStream { continuation in
      for (index, picture) in pictures.enumerated() {
        continuation.yield(VideoFrame(picture, rtpTimestamp: UInt32(index + 1)))
      }
      continuation.finish()
    }
  }

  /// A source that stays open until the test ends it, and the end of its iteration.
  private static func camera() -> (
    AsyncStream<VideoFrame>, AsyncStream<VideoFrame>.Continuation, Event
  ) {
    let (source, continuation) = AsyncStream<VideoFrame>.makeStream()
    let ended = Event()
    continuation.onTermination = { _ in ended.happen() }
    return (source, continuation, ended)
  }
}
