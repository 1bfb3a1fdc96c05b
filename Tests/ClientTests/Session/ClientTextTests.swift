import SidelightClient
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Tests of the client library's texts and of its acceptances, with a real server.
@Suite(.timeLimit(.minutes(5))) struct ClientTextTests {
  @Test func `a text is accepted at once and applied with the next frame`() async throws {
    let shot = try picture()
    try await ClientControlTests.withSession { session in
      var received = ReceivedEvents(session)
      let requestID = session.select(text: "warm: sepiaTone(intensity: 0.5), colorInvert")
      let accepted = try #require(try await received.accepted())
      #expect(accepted.requestID == requestID)
      #expect(accepted.revision == 2)
      await session.send(VideoFrame(shot))
      #expect(try await received.applied()?.requestID == requestID)
      let fromText = try #require(try await received.filtered()).picture.bytes
      session.select([.filter("sepiaTone", ["intensity": .number(0.5)]), .filter("colorInvert")])
      #expect(try await received.accepted()?.revision == 3)
      await session.send(VideoFrame(shot))
      let isEqual = try await received.filtered()?.picture.bytes == fromText
      #expect(isEqual)
    }
  }

  @Test func `every kind of change is accepted`() async throws {
    try await ClientControlTests.withSession(
      SessionOptions(pipeline: ClientControlTests.pipeline)
    ) { session in
      var received = ReceivedEvents(session)
      session.pause()
      for (index, requestID) in [
        session.update(["intensity": .number(0.5)], ofStage: "warm"),
        session.activate(["warm": false]), session.select([]), session.select(text: "vignette"),
      ].enumerated() {
        let accepted = try #require(try await received.accepted())
        #expect(accepted.requestID == requestID)
        #expect(accepted.revision == UInt64(index) + 2)
      }
    }
  }

  @Test func `a refused text is reported with its position and the nearest name`() async throws {
    try await ClientControlTests.withSession { session in
      var received = ReceivedEvents(session)
      let requestID = session.select(text: "\"né\": sepiaTone,\n  gausianBlur")
      let refused = try #require(try await received.rejected())
      #expect(refused.requestID == requestID)
      #expect(refused.cause == .invalid)
      #expect(refused.field == "select.pipeline_text")
      #expect(refused.value == "gausianBlur")
      #expect(refused.suggestion == "gaussianBlur")
      #expect(refused.position?.line == 2)
      #expect(refused.position?.column == 3)
      #expect(refused.position?.utf8Offset == 20)
      session.select(text: "sepiaTone | vignette")
      #expect(try await received.rejected()?.position?.column == 11)
      session.select([.filter("sepiaTone", ["intensity": .number(9)])])
      let range = try #require(try await received.rejected())
      #expect(range.value == "9.0" && range.limit == "-8.0 ... 8.0")
      #expect(range.position == nil)
    }
  }

  @Test func `a text that no frame was filtered with is selected again after a lost connection`()
    async throws
  {
    let clock = ClientTestClock()
    let shots = try (1 ... 3).map { try picture(16, 8, seed: $0) }
    let configuration = Reconnecting.configuration()
    try await Reconnecting.withServers(
      RunningServer(configuration), RunningServer(configuration)
    ) { first, second in
      let addresses = [try await first.address, try await second.address]
      try await clock.withSession(at: addresses, Reconnecting.options()) { session in
        var received = ReceivedEvents(session)
        await session.send(VideoFrame(shots[0]))
        _ = try await received.filtered()
        // It requires a revision, and was accepted: it is known to be selected.
        let requestID = session.select(text: "look: colorInvert", ifRevision: 1)
        #expect(try await received.accepted()?.requestID == requestID)
        await first.kill()
        let delay = try #require(try await received.interrupted())
        await clock.pass(delay)
        _ = try await received.restored()
        #expect(try await received.accepted()?.requestID == requestID)
        await session.send(VideoFrame(shots[1]))
        #expect(try await received.applied()?.requestID == requestID)
        #expect(try await received.filtered()?.disposition == .filtered)
        session.activate(["look": false])
        await session.send(VideoFrame(shots[2]))
        let isOriginal = try await received.filtered()?.picture.bytes == shots[2].bytes
        #expect(isOriginal)
        session.finish()
        try await received.drain()
      }
    }
  }

  @Test func `no original replaces a frame of a text that hides faces`() async throws {
    let shots = try (1 ... 2).map { try picture(16, 8, seed: $0) }
    try await `Protection without a connection`.lost([], .original, shots: shots) { session in
      session.select(text: "sepiaTone, hide: faceBlur")
    } check: { dropped, _ in
      #expect(dropped.reason == .disconnected)
      #expect(dropped.fallback == nil)
    }
  }
}
