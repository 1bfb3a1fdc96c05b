import GRPCCore
import SidelightClient
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Compositions in the client library, against a real server.
@Suite(.timeLimit(.minutes(5))) struct ClientCompositionTests {
  static let gray: [UInt8] = [48, 48, 48, 255]

  static func composition(_ size: FrameSize = FrameSize(width: 32, height: 16))
    -> CompositionOptions
  {
    CompositionOptions(
      size: size, frameRate: 60, fit: .stretch,
      sources: [.init(participant: "ana", label: "cam"), .init(label: "none")])
  }

  @Test func `a session shows the results of another one, and changes its composition`()
    async throws
  {
    let picture = try picture(8, 8, seed: 3)
    try await withServer { _, address in
      try await SidelightClient.connect(to: address) { client in
        try await client.withSession(SessionOptions(composition: Self.composition())) { composed in
          #expect(await composed.send(VideoFrame(picture)) == nil)
          try await client.withSession(SessionOptions(label: "cam", participant: "ana")) {
            session in
            var events = composed.events.makeAsyncIterator()
            /// Shows the picture until a composed one satisfies a condition.
            func show(until isDone: ([UInt8], FrameSize) -> Bool) async throws {
              while let event = try await events.next() {
                await session.send(VideoFrame(picture))
                if case .outcome(.filtered(let frame)) = event, let shown = frame.picture.frame,
                  isDone(shown.bytes, shown.size)
                {
                  return
                }
              }
              Issue.record("the session has ended")
            }
            async let outcomes: Void = { for try await _ in session.outcomes {} }()
            try await show { bytes, _ in Array(bytes[..<4]) != Self.gray }
            composed.setComposition(Self.composition(FrameSize(width: 64, height: 16)))
            try await show { bytes, size in
              // The second cell has no source.
              size.width == 64 && Array(bytes[..<4]) != Self.gray
                && Array(bytes[160 ..< 164]) == Self.gray
            }
            composed.setComposition(
              CompositionOptions(size: FrameSize(width: 64, height: 16), sources: []))
            var rejected: RejectedChange?
            while rejected == nil, let event = try await events.next() {
              if case .rejected(let change) = event { rejected = change }
            }
            #expect(rejected?.message.contains("set_composition.composition.sources") == true)
            composed.finish()
            session.finish()
            var counts: SessionCounts?
            while let event = try await events.next() {
              if case .finalCounts(let last) = event { counts = last }
            }
            try await outcomes
            #expect(counts?.received == composed.counts.submitted)
            #expect(composed.counts.pending == 0)
          }
        }
      }
    }
  }

  @Test func `a server that ignores the composition ends the session`() async throws {
    try await ClientSilenceTests.withServers(opens: true) { addresses, _ in
      let error = await #expect(throws: RPCError.self) {
        try await ClientTestClock().withSession(
          at: [addresses[0]], SessionOptions(composition: Self.composition())
        ) { session in
          for try await _ in session.events {}
        }
      }
      #expect(error?.code == .unimplemented)
    }
  }
}
