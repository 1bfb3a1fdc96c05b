import SidelightClient
import SidelightCodecs
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Pictures through the client library: files, and the shape in which they come back.
@Suite(.timeLimit(.minutes(5))) struct ClientPictureTests {
  static let pipeline: Pipeline = [.filter("sepiaTone")]

  /// Returns the answers to pictures that are sent in sequence.
  func exchange(
    _ pictures: [VideoPicture], _ options: SessionOptions
  ) async throws -> [FilteredFrame] {
    try await withServer { _, address in
      try await SidelightClient.connect(to: address) { client in
        try await client.withSession(options) { session in
          for picture in pictures { await session.send(VideoFrame(picture)) }
          session.finish()
          var filtered: [FilteredFrame] = []
          for try await outcome in session.outcomes {
            if case .filtered(let frame) = outcome { filtered.append(frame) }
          }
          return filtered
        }
      }
    }
  }

  @Test func `a JPEG comes back as a JPEG, and how it is to be shown comes with it`() async throws {
    let image = try Sidelight_V1_Image.jpeg(64, 48)
    let orientation = Orientation(quarterTurns: 1)
    let filtered = try await self.exchange(
      [.jpeg([UInt8](image.inline), orientation: orientation)],
      SessionOptions(pipeline: Self.pipeline, dropPolicy: .neverDrop))
    let picture = try #require(filtered.first).picture
    let expected = try await image.decoded().filtered(Self.pipeline).jpeg()
    #expect(picture.jpeg == [UInt8](expected))
    #expect(picture.orientation == orientation)
    #expect(picture.frame == nil)
  }

  @Test func `samples and files in turn come back in the shape that was asked for`() async throws {
    let output = OutputOptions(
      format: .raw(.bgra8), width: 40, height: 40, fit: .fill, isUpright: true)
    let image = try Sidelight_V1_Image.jpeg(64, 48)
    let filtered = try await self.exchange(
      [
        .jpeg([UInt8](image.inline), orientation: Orientation(quarterTurns: 3)),
        .frame(try picture(64, 48)),
      ],
      SessionOptions(pipeline: Self.pipeline, dropPolicy: .neverDrop, output: output))
    #expect(filtered.map(\.disposition) == [.filtered, .filtered])
    for frame in filtered {
      #expect(frame.picture.frame?.format == .bgra8)
      #expect(frame.picture.frame?.size == FrameSize(width: 40, height: 40))
      #expect(frame.picture.orientation == .upright)
    }
  }

  @Test func `a JPEG that nothing is done to is the caller's own`() async throws {
    let file = [UInt8](try Sidelight_V1_Image.jpeg(64, 48).inline)
    let filtered = try await self.exchange([.jpeg(file)], SessionOptions(dropPolicy: .neverDrop))
    #expect(filtered.first?.picture.jpeg == file)
    #expect(filtered.first?.disposition == .passedThrough)
  }
}
