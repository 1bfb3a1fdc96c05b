import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Clients that send many bytes beyond their credits.
@Suite(.timeLimit(.minutes(5))) struct ExcessFramesTests {
  /// A frame of a mebibyte.
  static let image = Sidelight_V1_Image.noise(.gray8, 1024, 1024)
  static let frames: UInt64 = 24

  /// The time on the clock until the pong to a ping that follows frames.
  ///
  /// The first frame comes back and is not acknowledged, so the second waits, and keeps the only
  /// credit.
  static func timeOfPong() async throws -> Duration {
    let clock = ManualClock()
    let begin = clock.now
    var configuration = ServerConfiguration()
    configuration.framesInFlight = 1
    return try await clock.ticking(by: .milliseconds(250)) {
      try await withServer(configuration, clock: clock.sessionClock) { _, address in
        try await withStub(address) { stub in
          try await stub.process { writer in
            try await writer.write(.open(policy: .newestWins) { $0.outputWindow = 1 })
            for sequence in 1 ... Self.frames {
              try await writer.write(.frame(sequence, Self.image))
            }
            try await writer.write(.with { $0.ping.id = 1 })
          } onResponse: { response in
            var time: Duration?
            for try await message in response.messages {
              if case .pong? = message.kind { time = time ?? clock.now - begin }
            }
            return try #require(time)
          }
        }
      }
    }
  }

  @Test func `the server delays a client whose excess is more than it allows in a second`()
    async throws
  {
    // 22 MiB lack credit, 16 are free.
    #expect(try await Self.timeOfPong() >= .milliseconds(350))
  }
}
