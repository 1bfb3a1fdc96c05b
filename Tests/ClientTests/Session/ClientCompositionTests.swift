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
            async let outcomes: Void = { for try await _ in session.outcomes {} }()
            var step = 0
            var counts: SessionCounts?
            for try await event in composed.events {
              if step < 2 { await session.send(VideoFrame(picture)) }
              switch event {
              case .outcome(.filtered(let frame)):
                guard let shown = frame.picture.frame, Array(shown.bytes[..<4]) != Self.gray else {
                  continue
                }
                switch (step, shown.size.width) {
                case (0, _):
                  composed.setComposition(Self.composition(FrameSize(width: 64, height: 16)))
                case (1, 64):
                  // The second cell has no source.
                  #expect(Array(shown.bytes[160 ..< 164]) == Self.gray)
                  composed.setComposition(
                    CompositionOptions(size: FrameSize(width: 64, height: 16), sources: []))
                default: continue
                }
                step += 1
              case .rejected(let change):
                #expect(change.message.contains("set_composition.composition.sources"))
                step += 1
                composed.finish()
                session.finish()
              case .finalCounts(let last): counts = last
              default: break
              }
            }
            #expect(step == 3)
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
