import SidelightClient
import SidelightKernels
import SidelightTestSupport
import SidelightWire
import Testing

/// Gradual changes by the client library, with a real server.
@Suite(.timeLimit(.minutes(5))) struct ClientTransitionTests {
  static let pipeline: Pipeline = [Stage(.filter(FilterCall(name: "sepiaTone")), id: "warm")]

  /// Frames after a change, 100 ms apart.
  static func pictures(
    _ session: FilterSession, _ received: inout ReceivedEvents, _ count: Int
  ) async throws -> [[UInt8]] {
    let shot = try picture()
    var pictures: [[UInt8]] = []
    for index in 0 ..< count {
      await session.send(
        VideoFrame(shot, captureTimeNanoseconds: 1_000_000_000 + Int64(index) * 100_000_000))
      pictures.append(try #require(try await received.filtered()).picture.bytes)
    }
    return pictures
  }

  @Test(
    arguments: [
      { $0.select([.filter("colorInvert")], transition: .fade(.milliseconds(200))) },
      {
        $0.select(
          text: "colorInvert", transition: .wipe(.milliseconds(200), .left, softness: 0.5))
      },
      { $0.activate(["warm": false], transition: .dissolve(.milliseconds(200), seed: 4)) },
      {
        $0.update(
          ["intensity": .number(0)], ofStage: "warm",
          glide: ParameterGlide(.milliseconds(200), curve: .easeOut))
      },
    ] as [@Sendable (FilterSession) -> UInt64])
  func `a change is in between for its duration, and its end is reported`(
    _ change: @Sendable (FilterSession) -> UInt64
  ) async throws {
    try await ClientControlTests.withSession(
      SessionOptions(pipeline: Self.pipeline)
    ) { session in
      var received = ReceivedEvents(session)
      await session.send(VideoFrame(try picture()))
      let first = try #require(try await received.filtered()).picture.bytes
      let requestID = change(session)
      let pictures = try await Self.pictures(session, &received, 2)
      #expect(pictures[0] == first)
      #expect(pictures[1] != first)
      await session.send(
        VideoFrame(try picture(), captureTimeNanoseconds: 1_300_000_000))
      let ended = try #require(
        try await received.next {
          if case .transitionEnded(let ended) = $0 { ended } else { nil }
        })
      #expect(ended.requestID == requestID && ended.revision == 2)
      #expect(ended.end == .completed && ended.firstSequence == 4)
    }
  }

  @Test func `a transition that the server refuses is reported`() async throws {
    try await ClientControlTests.withSession(
      SessionOptions(pipeline: Self.pipeline)
    ) { session in
      var received = ReceivedEvents(session)
      session.select([], transition: .fade(.seconds(100)))
      let refused = try #require(try await received.rejected())
      #expect(refused.field == "select.transition.duration")
      #expect(refused.limit == "more than 0, at most 60.0 seconds")
    }
  }
}
