import Foundation
import SidelightKernels
import SidelightWire
import Testing

@Suite struct ImageConversionTests {
  static let limits = FrameLimits(maxDimension: 100, maxPixels: 1000)

  @Test func `padded planes in any order of memory become the frame that they describe`() throws {
    // Luma is behind chroma, both with padding.
    var image = Sidelight_V1_Image()
    image.format = .nv12
    image.width = 3
    image.height = 2
    image.planes = [
      .init(offset: 8, stride: 5), .init(offset: 1, stride: 6),
    ]
    image.inline = Data((0 ..< 16).map { UInt8($0) })
    let frame = try image.makeFrame(limits: Self.limits)
    #expect([UInt8](frame.packedBytes()) == [8, 9, 10, 13, 14, 15, 1, 2, 3, 4])
  }

  @Test(
    arguments: PixelFormat.allCases)
  func `a frame becomes an image without padding, and the image the frame again`(
    format: PixelFormat
  ) throws {
    let layout = try FrameLayout(packed: format, size: FrameSize(width: 7, height: 5))
    var image = Sidelight_V1_Image()
    image.format = Sidelight_V1_PixelFormat(format)
    image.width = 7
    image.height = 5
    image.inline = Data((0 ..< layout.byteCount).map { UInt8(truncatingIfNeeded: $0 * 7) })
    image.orientation.rotation = .rotation270
    image.color.range = .full
    image.color.matrix = .bt709
    image.color.alpha = .premultiplied
    let frame = try image.makeFrame(limits: Self.limits)
    #expect(frame.color == ColorDescription(range: .full, matrix: .bt709, alpha: .premultiplied))
    #expect(frame.orientation == Orientation(quarterTurns: 3))
    #expect(Sidelight_V1_Image(frame) == image)
  }

  @Test func `a size beyond the limits is refused whatever pixels came with it`() {
    for (width, height) in [(101, 1), (1, 101), (40, 26), (UInt32.max, UInt32.max)]
      as [(UInt32, UInt32)]
    {
      var image = Sidelight_V1_Image()
      image.format = .gray8
      image.width = width
      image.height = height
      let violation = #expect(throws: FieldViolation.self) {
        try image.makeFrame(limits: Self.limits)
      }
      #expect(["width", "height"].contains(violation?.field))
    }
  }
}

extension Sidelight_V1_Plane {
  fileprivate init(offset: UInt32, stride: UInt32) {
    self.init()
    self.offset = offset
    self.stride = stride
  }
}
