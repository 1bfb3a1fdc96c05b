import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// One session that never runs out of frames, on a server with one thread to filter them.
@Suite(.timeLimit(.minutes(5))) struct StarvationTests {
  static let frames: UInt64 = 1000
  static let image = Sidelight_V1_Image.noise(.bgra8, 320, 180)

  @Test
  func `a session that always has a next frame does not prevent others from starting`() async throws
  {
    var configuration = ServerConfiguration()
    configuration.computeThreads = 1
    configuration.framesInFlight = 16
    let busy = Answers()
    let (started, begin) = AsyncStream<Never>.makeStream()
    try await withServer(configuration) { _, address in
      try await withStub(address) { stub in
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            try await stub.process { writer in
              try await writer.write(
                .open([.filter("median"), .filter("median")], policy: .neverDrop) {
                  $0.mailboxDepth = 8
                })
              for sequence in 1 ... Self.frames {
                try await writer.write(.frame(sequence, Self.image))
              }
            } onResponse: { response in
              for try await message in response.messages {
                busy.add(message)
                if busy.messages.frames.count == 10 { begin.finish() }
              }
            }
          }
          for await _ in started {}
          let answers = try await stub.converse([
            .open([.filter("sepiaTone")]), .frame(1, Self.image),
          ])
          #expect(answers.frames.map(\.sequence) == [1])
          #expect(busy.messages.frames.count < Self.frames, "it was served among the others")
          group.cancelAll()
        }
      }
    }
  }
}
