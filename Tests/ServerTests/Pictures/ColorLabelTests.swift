import Foundation
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Tests of the colour description that filtered pictures carry.
@Suite(.timeLimit(.minutes(5))) struct ColorLabelTests {
  private static func expectedRange(_ format: PixelFormat) -> Sidelight_V1_ColorRange {
    format.isYUV ? .video : .full
  }

  @Test(
    arguments: PixelFormat.allCases)
  func `filtered RGB and grey frames state full range, YUV frames video range`(format: PixelFormat)
    async throws
  {
    let image = Sidelight_V1_Image.noise(format, 18, 12)
    let pipeline: Pipeline = [.filter("sepiaTone")]
    try await withServer { _, address in
      try await withStub(address) { stub in
        let frames = try await stub.converse([.open(pipeline), .frame(1, image)]).frames
        #expect(frames.map(\.image.color.range) == [Self.expectedRange(format)])
        let still = try await stub.apply(
          .with {
            $0.image = image
            $0.pipeline = Sidelight_V1_Pipeline(pipeline)
          })
        #expect(still.disposition == .filtered)
        #expect(still.image.color.range == Self.expectedRange(format))
      }
    }
  }

  @Test(
    arguments: PixelFormat.allCases)
  func `a result in another format states the range of that format`(format: PixelFormat)
    async throws
  {
    let target = Sidelight_V1_PixelFormat(format)
    try await withServer { _, address in
      try await withStub(address) { stub in
        for source in PixelFormat.allCases where source != format {
          let still = try await stub.apply(
            .with {
              $0.image = .noise(source, 18, 12)
              $0.output.format = target
            })
          #expect(still.image.format == target)
          #expect(still.image.color.range == Self.expectedRange(format), "from \(source)")
        }
      }
    }
  }

  @Test
  func `white of RGB and of grey stays white in the range that the result states`() async throws {
    try await withServer { _, address in
      try await withStub(address) { stub in
        for (format, samples) in [(PixelFormat.rgb24, 3), (.gray8, 1), (.rgba8, 4)] {
          let image = Sidelight_V1_Image.with {
            $0.format = Sidelight_V1_PixelFormat(format)
            $0.width = 4
            $0.height = 2
            $0.inline = Data(repeating: 255, count: 8 * samples)
          }
          let still = try await stub.apply(
            .with {
              $0.image = image
              $0.pipeline = Sidelight_V1_Pipeline([.filter("gaussianBlur")])
            })
          #expect(still.image.color.range == .full)
          #expect(still.image.inline.allSatisfy { $0 == 255 })
        }
      }
    }
  }
}
