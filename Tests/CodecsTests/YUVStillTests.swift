import SidelightCodecs
import SidelightKernels
import Testing

@Suite struct `A YUV frame as a still image` {
  static let colors = [YUVRange.video, .full].flatMap { range in
    [YUVMatrix.bt601, .bt709].map { ColorDescription(range: range, matrix: $0) }
  }

  @Test(
    arguments: [PixelFormat.i420, .nv12], colors)
  func `has the colours that its matrix and range say, within one level`(
    format: PixelFormat, color: ColorDescription
  ) throws {
    for size in Scene.sizes {
      let frame = try Scene.noise(format, size, color: color)
      let still = try ImageDecoder(pool: Scene.pool).decode(try ImageEncoder(.png()).encode(frame))
      #expect(still.format == .rgb24)
      let got = Scene.packed(still)
      var worst = 0.0
      for y in 0 ..< size.height {
        for x in 0 ..< size.width {
          let expected = Self.reference(frame, x, y)
          for channel in 0 ..< 3 {
            let value = Double(got[(y * size.width + x) * 3 + channel])
            worst = max(worst, abs(value - expected[channel]))
          }
        }
      }
      // Half a level of rounding, and the error of 16 fractional bits.
      #expect(worst <= 0.51)
    }
  }

  @Test func `keeps black black and white white in video range`() throws {
    for (luma, expected) in [(16, 0), (235, 255), (0, 0), (255, 255)] as [(UInt8, UInt8)] {
      let frame = try Scene.frame(.i420, FrameSize(width: 2, height: 2)) { plane, _, _ in
        plane == 0 ? luma : 128
      }
      let still = try ImageDecoder(pool: Scene.pool).decode(try ImageEncoder(.png()).encode(frame))
      #expect(Scene.packed(still).allSatisfy { $0 == expected })
    }
  }

  /// The formula in floating point, straight from the recommendations: Y' = Kr R + Kg G + Kb B,
  /// Cb = (B - Y') / 2 (1 - Kb), Cr = (R - Y') / 2 (1 - Kr), solved for R, G and B.
  static func reference(_ frame: Frame, _ x: Int, _ y: Int) -> [Double] {
    func sample(_ plane: Int, _ row: Int, _ column: Int) -> Double {
      frame.withRow(row, plane: plane) { bytes in
        bytes.withUnsafeBytes { Double($0[column]) }
      }
    }
    let isPlanar = frame.format == .i420
    let cb = sample(1, y / 2, isPlanar ? x / 2 : x / 2 * 2)
    let cr = sample(isPlanar ? 2 : 1, y / 2, isPlanar ? x / 2 : x / 2 * 2 + 1)
    let isVideo = frame.color.range == .video
    let luma = isVideo ? (sample(0, y, x) - 16) / 219 : sample(0, y, x) / 255
    let (u, v) = ((cb - 128) / (isVideo ? 224 : 255), (cr - 128) / (isVideo ? 224 : 255))
    let (kr, kb) = frame.color.matrix == .bt601 ? (0.299, 0.114) : (0.2126, 0.0722)
    let red = luma + 2 * (1 - kr) * v
    let blue = luma + 2 * (1 - kb) * u
    let green = (luma - kr * red - kb * blue) / (1 - kr - kb)
    return [red, green, blue].map { max(0, min(255, $0 * 255)) }
  }
}
