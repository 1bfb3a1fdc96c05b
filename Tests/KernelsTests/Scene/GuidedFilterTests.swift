import SidelightKernels
import SidelightReference
import SidelightScene
import Testing

/// The colour guided filter of small pictures.
@Suite struct `The guided filter` {
  static let sizes = [(1, 1), (2, 3), (13, 1), (40, 25), (97, 66)]
    .map { FrameSize(width: $0.0, height: $0.1) }

  static func picture(_ size: FrameSize, noise: Int = 12) -> ColorPicture {
    var random = TestRandom(seed: 4)
    return ColorPicture(
      width: size.width, height: size.height,
      samples: (0 ..< 3 * size.pixelCount).map { index in
        let (x, y) = (index / 3 % size.width, index / 3 / size.width)
        let edge = (x / 9 + y / 7 + index % 3).isMultiple(of: 2) ? 90 : 0
        let ramp = 20 + 40 * x / size.width + 40 * y / size.height
        return UInt8(ramp + edge + Int.random(in: 0 ... noise, using: &random))
      })
  }

  static func matte(_ size: FrameSize, _ value: (_ pixel: Int) -> Double) -> MatteEstimate {
    MatteEstimate(
      width: size.width, height: size.height,
      values: (0 ..< size.pixelCount).map { Float(value($0)) })
  }

  @Test(arguments: Self.sizes)
  func `a constant matte comes back`(_ size: FrameSize) {
    let picture = Self.picture(size)
    for level in [0, 51, 128, 255] {
      let constant = Self.matte(size) { _ in Double(level) / 255 }
      for value in MatteProbe.guided(constant, picture, isSharpened: false) {
        #expect(abs(value - Double(level) / 255) < 1e-4)
      }
    }
  }

  /// The share of the colours that epsilon leaves to a linear function is 1 - epsilon / (their
  /// variance + epsilon).
  @Test func `a linear function of the colours comes back where they vary`() {
    let size = FrameSize(width: 90, height: 60)
    let picture = Self.picture(size)
    func linear(_ pixel: Int) -> Double {
      0.1 + 0.5 * Double(picture.samples[3 * pixel]) / 255
        + 0.3 * Double(picture.samples[3 * pixel + 1]) / 255
        - 0.2 * Double(picture.samples[3 * pixel + 2]) / 255
    }
    let found = MatteProbe.guided(
      Self.matte(size, linear), picture, GuidedFilter(epsilon: 1e-6), isSharpened: false)
    // A matte is rounded to 1/255.
    for pixel in found.indices { #expect(abs(found[pixel] - linear(pixel)) < 0.6 / 255) }
    // With a large epsilon it does not, so the test can fail.
    let flat = MatteProbe.guided(
      Self.matte(size, linear), picture, GuidedFilter(epsilon: 1), isSharpened: false)
    #expect(flat.indices.contains { abs(flat[$0] - linear($0)) > 0.02 })
  }

  @Test(arguments: Self.sizes, [1, 3, 5, 9])
  func `the models equal the definition`(_ size: FrameSize, _ radius: Int) {
    let picture = Self.picture(size)
    let filter = GuidedFilter(radius: radius)
    let matte = Self.matte(size) {
      (($0 % size.width / 4 + $0 / size.width / 3) % 3) == 0 ? 1 : 0.2
    }
    let found = MatteProbe.guided(matte, picture, filter, isSharpened: false)
    let expected = MatteProbe.reference(matte, picture, filter)
    for pixel in found.indices { #expect(abs(found[pixel] - expected[pixel]) < 1e-3) }
  }

  @Test func `instruction sets give the same models`() async throws {
    let size = FrameSize(width: 97, height: 66)
    let picture = Self.picture(size)
    let matte = Self.matte(size) { Double($0 % 7) / 6 }
    var results: [[Double]] = []
    for machine in InstructionSet.available {
      let compute = ComputePool(threadCount: 1, instructionSet: machine)
      results.append(
        await withTaskExecutorPreference(compute) {
          MatteProbe.guided(matte, picture, isSharpened: false)
        })
    }
    for result in results.dropFirst() {
      for (one, other) in zip(result, results[0]) { #expect(abs(one - other) < 1e-3) }
    }
  }
}

/// The reduction of frames.
@Suite struct `Reduced frames` {
  @Test(arguments: [
    (1280, 720, 320, 180), (640, 480, 214, 160), (720, 1280, 180, 320), (1, 1, 1, 1),
    (321, 180, 161, 90), (16384, 3, 316, 1),
  ])
  func `fit 320x180 and keep their shape`(_ width: Int, _ height: Int, _ wide: Int, _ high: Int) {
    let reduction = FrameReduction(
      FrameGeometry(format: .i420, size: FrameSize(width: width, height: height)))
    #expect(reduction.size == FrameSize(width: wide, height: high))
  }

  @Test(arguments: PixelFormat.allCases)
  func `are the means of squares`(_ format: PixelFormat) throws {
    for (width, height) in [(1, 1), (33, 17), (641, 37), (643, 362), (961, 5)] {
      for color in FormatSweep.colors(format) where color.alpha != .premultiplied {
        let geometry = FrameGeometry(
          format: format, size: FrameSize(width: width, height: height), color: color)
        let frame = try TestFrame.make(geometry, padding: .ragged)
        let picture = ColorPicture(reducing: frame)
        let pixels = ReferencePicture(frame).pixels
        let factor = FrameReduction(geometry).factor
        var worst = 0.0
        for cell in 0 ..< picture.width * picture.height {
          var sum = SIMD3<Double>.zero
          for row in 0 ..< factor {
            for column in 0 ..< factor {
              let x = min(cell % picture.width * factor + column, width - 1)
              let y = min(cell / picture.width * factor + row, height - 1)
              let pixel = pixels[y * width + x]
              sum += SIMD3(pixel.x, pixel.y, pixel.z)
            }
          }
          for channel in 0 ..< 3 {
            // The means of luma and chroma are converted, and then clamped.
            let mean = min(max(sum[channel] / Double(factor * factor), 0), 1) * 255
            worst = max(worst, abs(mean - Double(picture.samples[3 * cell + channel])))
          }
        }
        #expect(worst <= 0.6, "\(geometry.size) \(color)")
      }
    }
  }
}
