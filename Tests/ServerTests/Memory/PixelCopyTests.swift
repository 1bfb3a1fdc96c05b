import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// The number of copies of pixels between the received and the sent message. Tests of the codec
/// show that the messages themselves are not copied.
@Suite struct PixelCopyTests {
  static let image = Sidelight_V1_Image.noise(.i420, 640, 360, padding: 13)

  @Test(
    arguments: [
      Pipeline(stages: []), [.filter("sepiaTone"), .filter("vignette")], [.filter("median")],
    ])
  func `a frame needs no buffer: a filter reads the incoming message and writes the outgoing one`(
    pipeline: Pipeline
  ) async throws {
    try await withServer { server, address in
      let answers = try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open(pipeline), (1 ... 8).map { .frame($0, Self.image) })
      }
      #expect(answers.frames.count == 8)
      let statistics = server.poolStatistics
      #expect(statistics.hits + statistics.misses == 0)
    }
  }

  @Test func `a frame of two passes needs one buffer`() async throws {
    try await withServer { server, address in
      let answers = try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open([.filter("median"), .filter("edges")]), (1 ... 8).map { .frame($0, Self.image) })
      }
      #expect(answers.frames.count == 8)
      let statistics = server.poolStatistics
      #expect(statistics.hits + statistics.misses == 8)
    }
  }
}
