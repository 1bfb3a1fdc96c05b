import GRPCCore
import SidelightCodecs
import SidelightKernels
import SidelightServer
import SidelightWire
import SwiftProtobuf
import Testing

/// Tests of the shapes that an `OutputSpec` resolves to, without a server.
@Suite struct OutputShapeTests {
  static let limits = FrameLimits(maxDimension: 16384, maxPixels: 36_000_000)

  static func shape(
    allowsPNG: Bool = false, _ configure: (inout Sidelight_V1_OutputSpec) -> Void
  ) throws -> OutputShape {
    try OutputShape(.with(configure), limits: Self.limits, allowsPNG: allowsPNG)
  }

  @Test(
    arguments: Self.bad)
  func `a value outside its range is refused by name`(
    _ configure: @Sendable (inout Sidelight_V1_OutputSpec) -> Void, field: String, word: String
  ) {
    let error = #expect(throws: FieldViolation.self) { try Self.shape(configure) }
    #expect(error?.field == field)
    #expect(error?.reason.contains(word) == true)
    #expect(error?.code == .invalidArgument)
  }

  static let bad: [(@Sendable (inout Sidelight_V1_OutputSpec) -> Void, String, String)] = [
    ({ $0.width = 16385 }, "width", "16384"), ({ $0.height = 1 << 31 }, "height", "16384"),
    (
      {
        $0.width = 16384
        $0.height = 16384
      }, "width", "36000000"
    ),
    ({ $0.format = .UNRECOGNIZED(9) }, "format", "9"), ({ $0.format = .png }, "format", "PNG"),
    ({ $0.fit = .UNRECOGNIZED(7) }, "fit", "7"),
    ({ $0.jpegQuality = 101 }, "jpeg_quality", "100"),
    ({ $0.jpegSubsampling = .UNRECOGNIZED(4) }, "jpeg_subsampling", "4"),
  ]

  @Test(
    arguments: PixelFormat.allCases)
  func `properties that are not requested keep the input's values`(format: PixelFormat) throws {
    let form = PictureForm(
      coding: .raw(format),
      geometry: FrameGeometry(
        format: format, size: FrameSize(width: 64, height: 48),
        color: ColorDescription(range: .full, matrix: .bt709, alpha: .premultiplied)),
      orientation: Orientation(quarterTurns: 1, isMirrored: true))
    let delivery = try Self.shape { _ in }.delivery(of: form)
    #expect(delivery.shape == FrameShape())
    #expect(delivery.encoding == nil)
    #expect(delivery.coding == form.coding)
    #expect(delivery.orientation == form.orientation)
  }

  @Test func `upright rotates the samples and resets the orientation`() throws {
    let orientation = Orientation(quarterTurns: 3, isMirrored: true)
    let form = PictureForm(
      coding: .jpeg,
      geometry: FrameGeometry(
        format: .i420, size: FrameSize(width: 64, height: 48), color: .jpeg),
      orientation: orientation)
    let turned = try Self.shape { $0.upright = true }.delivery(of: form)
    #expect(turned.shape.orientation == orientation)
    #expect(turned.orientation == .upright)
    let asItIs = try Self.shape { $0.width = 32 }.delivery(of: form)
    #expect(asItIs.shape == FrameShape(width: 32))
    #expect(asItIs.orientation == orientation)
  }

  @Test
  func `samples that become a file are rotated upright, because files state no orientation`() throws
  {
    let orientation = Orientation(quarterTurns: 1)
    let form = PictureForm(
      coding: .raw(.bgra8),
      geometry: FrameGeometry(format: .bgra8, size: FrameSize(width: 64, height: 48)),
      orientation: orientation)
    for format in [Sidelight_V1_PixelFormat.jpeg, .png] {
      let delivery = try Self.shape(allowsPNG: true) { $0.format = format }.delivery(of: form)
      #expect(delivery.shape.orientation == orientation)
      #expect(delivery.orientation == .upright)
    }
  }

  @Test func `samples are encoded as the file stores them, in the pipeline's last pass`() throws {
    func encoding(
      _ format: PixelFormat, _ configure: (inout Sidelight_V1_OutputSpec) -> Void
    ) throws -> FrameEncoding? {
      let geometry = FrameGeometry(format: format, size: FrameSize(width: 64, height: 48))
      return try Self.shape(allowsPNG: true, configure)
        .delivery(of: PictureForm(coding: .raw(format), geometry: geometry)).encoding
    }
    let stored = FrameEncoding(format: .i420, color: .jpeg)
    #expect(try encoding(.bgra8) { $0.format = .jpeg } == stored)
    #expect(try encoding(.nv12) { $0.format = .jpeg } == stored)
    #expect(try encoding(.gray8) { $0.format = .jpeg } == nil)
    for subsampling in [Sidelight_V1_ChromaSubsampling.chromaSubsampling444, .chromaSubsampling422]
    {
      let full = try encoding(.i420) {
        $0.format = .jpeg
        $0.jpegSubsampling = subsampling
      }
      #expect(full?.format == .rgb24)
    }
    #expect(try encoding(.i420) { $0.format = .png }?.format == .rgb24)
    #expect(try encoding(.rgba8) { $0.format = .png } == nil)
    #expect(try encoding(.rgba8) { $0.format = .nv12 }?.format == .nv12)
  }
}
