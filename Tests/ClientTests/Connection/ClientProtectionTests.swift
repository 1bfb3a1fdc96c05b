import GRPCCore
import SidelightClient
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import Testing

/// Tests of the pictures that replace frames of a protecting pipeline while the server is
/// unavailable.
@Suite(.timeLimit(.minutes(5))) struct `Protection without a connection` {
  /// A filter with the name of a filter that hides faces.
  struct HidingFilter: CatalogueFilter {
    static let description = FilterDescription(
      name: "faceBlur", summary: "Inverts frames.", category: .custom, reach: .pixel,
      fidelity: .custom, formula: "1 - rgb")

    init(_ arguments: Arguments) {}

    func nodes(for geometry: FrameGeometry) -> [FilterNode] {
      [
        .matrix(
          ColorMatrix(
            red: [-1, 0, 0, 0], green: [0, -1, 0, 0], blue: [0, 0, -1, 0], bias: [1, 1, 1, 0]))
      ]
    }
  }

  static func server() -> RunningServer {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(HidingFilter.self)
    return RunningServer(Reconnecting.configuration(), catalogue: catalogue)
  }

  static let hiding: Pipeline = [Stage(.filter(FilterCall(name: "faceBlur")), id: "hide")]

  /// Runs a session that loses its server after the first frame has come back. The second one is
  /// sent without a connection, and `check` receives both outcomes.
  static func lost(
    _ pipeline: Pipeline, _ failOpen: ReconnectPolicy.FailOpen, shots: [Frame],
    prepare: @Sendable (FilterSession) -> Void = { _ in },
    check: @Sendable (DroppedFrame, FilteredFrame) throws -> Void
  ) async throws {
    let clock = ClientTestClock()
    try await Reconnecting.withServers(Self.server(), Self.server()) { first, second in
      let addresses = [try await first.address, try await second.address]
      try await clock.withSession(
        at: addresses, Reconnecting.options(pipeline, failOpen: failOpen)
      ) { session in
        var received = ReceivedEvents(session)
        prepare(session)
        await session.send(VideoFrame(shots[0]))
        let filtered = try #require(try await received.filtered())
        await first.kill()
        let delay = try #require(try await received.interrupted())
        await session.send(VideoFrame(shots[1]))
        try check(try #require(try await received.dropped()), filtered)
        await clock.pass(delay)
        _ = try await received.restored()
        session.finish()
        try await received.drain()
      }
    }
  }

  @Test(arguments: ReconnectPolicy.FailOpen.allCases)
  func `a protecting pipeline shows no original`(
    _ failOpen: ReconnectPolicy.FailOpen
  ) async throws {
    let shots = try (1 ... 2).map { try picture(16, 8, seed: $0) }
    try await Self.lost(Self.hiding, failOpen, shots: shots) { dropped, filtered in
      #expect(dropped.reason == .disconnected)
      switch failOpen {
      case .original, .nothing: #expect(dropped.fallback == nil)
      case .lastFrame:
        let isFiltered = dropped.fallback?.picture.bytes == filtered.picture.bytes
        #expect(isFiltered)
      }
      let isOriginal = dropped.fallback?.picture.bytes == shots[1].bytes
      #expect(!isOriginal)
    }
  }

  /// The form that shows that the tests above can fail.
  @Test func `a pipeline without protection shows the original`() async throws {
    let shots = try (1 ... 2).map { try picture(16, 8, seed: $0) }
    try await Self.lost([.filter("colorInvert")], .original, shots: shots) { dropped, _ in
      let isOriginal = dropped.fallback?.picture.bytes == shots[1].bytes
      #expect(isOriginal)
    }
  }

  @Test(arguments: [ReconnectPolicy.FailOpen.original, .lastFrame])
  func `protection counts from its request, before the server answers`(
    _ failOpen: ReconnectPolicy.FailOpen
  ) async throws {
    let clock = ClientTestClock()
    let shots = try (1 ... 3).map { try picture(16, 8, seed: $0) }
    try await Reconnecting.withServers(Self.server(), Self.server()) { first, second in
      let addresses = [try await first.address, try await second.address]
      try await clock.withSession(
        at: addresses, Reconnecting.options(failOpen: failOpen)
      ) { session in
        var received = ReceivedEvents(session)
        await session.send(VideoFrame(shots[0]))
        _ = try await received.filtered()
        // Frames are not filtered using it, and the server does not report it as in force.
        session.select(Self.hiding)
        _ = try await session.ping()
        await first.kill()
        let delay = try #require(try await received.interrupted())
        await session.send(VideoFrame(shots[1]))
        // The last picture is from before the selection.
        #expect(try await received.dropped()?.fallback == nil)
        await clock.pass(delay)
        _ = try await received.restored()
        await session.send(VideoFrame(shots[2]))
        #expect(try await received.filtered()?.disposition == .filtered)
        session.finish()
        try await received.drain()
      }
    }
  }

  @Test func `protection ends when a pipeline without it is in force`() async throws {
    let shots = try (1 ... 2).map { try picture(16, 8, seed: $0) }
    try await Self.lost(Self.hiding, .original, shots: shots) { session in
      // In force with the first frame, which returns before the loss.
      session.activate(["hide": false])
    } check: { dropped, _ in
      let isOriginal = dropped.fallback?.picture.bytes == shots[1].bytes
      #expect(isOriginal)
    }
  }
}
