import GRPCCore
import SidelightClient
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Named outputs in the client library, against a real server.
@Suite(.timeLimit(.minutes(5))) struct ClientOutputTests {
  @Test func `pictures come back in the outputs, and credits with the session's outcomes`()
    async throws
  {
    let pictures = try (1 ... 20).map { try picture(32, 16, seed: UInt64($0)) }
    let options = SessionOptions(
      pipeline: [.colorInvert()], dropPolicy: .neverDrop, outputWindow: 2,
      outputs: [
        NamedOutput("all"),
        NamedOutput("small", output: OutputOptions(width: 16), maxFPS: 10),
        NamedOutput("twice", pipeline: [.colorInvert()]),
      ])
    let events = try await ClientLibraryTests.session(options) { session in
      async let sending: Void = session.send(
        contentsOf: AsyncStream { continuation in
          for (index, picture) in pictures.enumerated() {
            continuation.yield(
              VideoFrame(picture, captureTimeNanoseconds: 1 + Int64(index) * 50_000_000))
          }
          continuation.finish()
        })
      var events: [SessionEvent] = []
      for try await event in session.events { events.append(event) }
      try await sending
      return events
    }
    let outcomes = events.compactMap { event -> FilteredFrame? in
      if case .outcome(.filtered(let frame)) = event { frame } else { nil }
    }
    #expect(outcomes.map(\.sequence) == Array(1 ... 20))
    #expect(
      outcomes.allSatisfy { if case .omitted = $0.picture { true } else { false } })
    func frames(_ name: String) -> [FilteredFrame] {
      events.compactMap { event in
        if case .output(name, .filtered(let frame)) = event { frame } else { nil }
      }
    }
    #expect(frames("all").map(\.sequence) == Array(1 ... 20))
    #expect(frames("all").allSatisfy { $0.disposition == .filtered && $0.roundTripTime > .zero })
    #expect(frames("small").map(\.sequence) == stride(from: 1, to: 21, by: 2).map { UInt64($0) })
    #expect(frames("small").allSatisfy { $0.picture.frame?.size.width == 16 })
    let isIdentical = frames("twice").map(\.picture.bytes) == pictures.map(\.bytes)
    #expect(isIdentical, "the output's pipeline undoes the session's")
    guard case .finalCounts(let counts)? = events.last else {
      Issue.record("the last event is not the final counts")
      return
    }
    #expect(counts.outputs.mapValues(\.filtered) == ["all": 20, "small": 10, "twice": 20])
  }

  @Test func `the server's refusal of an output ends the session with its field`() async throws {
    let error = await #expect(throws: RPCError.self) {
      try await ClientLibraryTests.session(
        SessionOptions(outputs: [NamedOutput("a"), NamedOutput("a")])
      ) { _ in }
    }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("open.outputs[1].name") == true)
  }

  @Test func `a server that ignores outputs ends the session`() async throws {
    try await ClientSilenceTests.withServers(opens: true) { addresses, _ in
      let error = await #expect(throws: RPCError.self) {
        try await ClientTestClock().withSession(
          at: [addresses[0]], SessionOptions(outputs: [NamedOutput("a")])
        ) { session in
          for try await _ in session.events {}
        }
      }
      #expect(error?.code == .unimplemented)
      #expect(error?.message.contains("does not have named outputs") == true)
    }
  }

  @Test func `an omitted picture that is sent is an invalid frame`() async throws {
    let outcomes = try await ClientLibraryTests.session(.init(dropPolicy: .neverDrop)) { session in
      await session.send(VideoFrame(.omitted))
      await session.send(VideoFrame(try picture()))
      session.finish()
      var outcomes: [FrameOutcome] = []
      for try await outcome in session.outcomes { outcomes.append(outcome) }
      return outcomes
    }
    guard case .dropped(let frame) = outcomes[0], case .filtered = outcomes[1] else {
      Issue.record("\(outcomes)")
      return
    }
    #expect(frame.reason == .invalidFrame)
  }
}
