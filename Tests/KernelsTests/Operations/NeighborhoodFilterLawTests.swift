import SidelightKernels
import SidelightReference
import Testing

/// Laws of neighbourhood filters that hold for every picture.
@Suite struct `Laws of neighbourhood filters` {
  static let size = FrameSize(width: 75, height: 54)
  static let opaque = ColorDescription(alpha: .opaque)

  static func geometry(_ format: PixelFormat) -> FrameGeometry {
    FrameGeometry(format: format, size: Self.size, color: Self.opaque)
  }

  static func number(_ value: Double) -> ParameterValue { .number(value) }

  /// Filters that keep a flat picture.
  static let flatKeeping: [Stage] = [
    .filter("boxBlur"), .filter("boxBlur", ["radius": Self.number(0.37)]),
    .filter("boxBlur", ["radius": Self.number(300)]),
    .filter("motionBlur"), .filter("motionBlur", ["angle": Self.number(0.7)]),
    .filter("motionBlur", ["angle": Self.number(-2), "radius": Self.number(1.3)]),
    .filter("zoomBlur"), .filter("zoomBlur", ["amount": Self.number(-50)]),
    .filter("unsharpMask"), .filter("unsharpMask", ["radius": Self.number(40)]),
    .filter("sharpenLuminance", ["sharpness": Self.number(40)]),
    .filter("sharpenLuminance", ["radius": Self.number(11)]),
    .filter("bloom"), .filter("gloom"), .filter("median"),
    .filter("bumpDistortion"), .filter("pinchDistortion"), .filter("twirlDistortion"),
  ]

  @Test(arguments: Self.flatKeeping, PixelFormat.allCases)
  func `a flat field stays flat up to the edge`(_ stage: Stage, _ format: PixelFormat) async throws
  {
    let bench = TestBench()
    for value: UInt8 in [0, 1, 16, 127, 128, 254, 255] {
      let frame = try TestFrame.flat(Self.geometry(format), value)
      let result = try await bench.run([stage], on: frame)
      #expect(result.samples == frame.samples, "value \(value)")
    }
  }

  @Test(arguments: [
    Stage.filter("boxBlur", ["radius": Self.number(0)]),
    .filter("motionBlur", ["radius": Self.number(0), "angle": Self.number(1)]),
    .filter("zoomBlur", ["amount": Self.number(0)]),
    .filter("unsharpMask", ["intensity": Self.number(0)]),
    .filter("unsharpMask", ["radius": Self.number(0)]),
    .filter("sharpenLuminance", ["sharpness": Self.number(0)]),
    .filter("bloom", ["intensity": Self.number(0)]),
    .filter("gloom", ["intensity": Self.number(0)]),
    .filter("convolution3X3"), .filter("convolution5X5"), .filter("convolutionRGB3X3"),
    .filter("holeDistortion", ["radius": Self.number(0)]),
    .filter("bumpDistortion", ["scale": Self.number(0)]),
    .filter("pinchDistortion", ["scale": Self.number(0)]),
    .filter("twirlDistortion", ["angle": Self.number(0)]),
  ])
  func `neutral settings compile to no pass`(_ stage: Stage) async throws {
    let frame = try TestFrame.make(Self.geometry(.bgra8))
    let result = try await TestBench().run([stage], on: frame)
    #expect(result.buffer === frame.buffer)
  }

  @Test(arguments: Self.flatKeeping, [PixelFormat.bgra8, .i420, .nv12])
  func `bands do not change the result`(_ stage: Stage, _ format: PixelFormat) async throws {
    let geometry = FrameGeometry(
      format: format, size: FrameSize(width: 640, height: 403), color: Self.opaque)
    let frame = try TestFrame.make(geometry)
    let whole = try await TestBench(threads: 1).run([stage], on: frame)
    let banded = try await TestBench(threads: 5).run([stage], on: frame)
    #expect(whole.samples == banded.samples)
  }

  @Test(arguments: ["boxBlur", "motionBlur"])
  func `a blur preserves the sum of a bright patch`(_ name: String) async throws {
    let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: 256, height: 256))
    let frame = try TestFrame.make(geometry, padding: .aligned) { _, x, y, _ in
      (96 ..< 160).contains(x) && (96 ..< 160).contains(y) ? 240 : 0
    }
    let result = try await TestBench().run(
      [.filter(name, name == "motionBlur" ? ["angle": .number(0.6)] : [:])], on: frame)
    func sum(_ frame: Frame) -> Double { frame.samples[0].reduce(0) { $0 + Double($1) } }
    #expect(abs(sum(result) / sum(frame) - 1) < 0.005)
  }

  @Test func `horizontal and vertical lines equal boxes`()
    async throws
  {
    let frame = try TestFrame.make(Self.geometry(.gray8))
    for (angle, isLevel) in [(0.0, true), (Double.pi / 2, false)] {
      let result = try await TestBench().run(
        [.filter("motionBlur", ["radius": .number(2), "angle": .number(angle)])], on: frame)
      let samples = frame.samples[0].map { Double($0) }
      for y in 0 ..< Self.size.height {
        for x in 0 ..< Self.size.width {
          let mean =
            (-2 ... 2).reduce(0.0) { sum, step in
              let column = min(max(x + (isLevel ? step : 0), 0), Self.size.width - 1)
              let row = min(max(y + (isLevel ? 0 : step), 0), Self.size.height - 1)
              return sum + samples[row * Self.size.width + column]
            } / 5
          #expect(abs(Double(result.samples[0][y * Self.size.width + x]) - mean) < 0.6)
        }
      }
    }
  }

  @Test func `a line rotated by half a circle is the same line`() async throws {
    let frame = try TestFrame.make(Self.geometry(.bgra8))
    let bench = TestBench()
    let one = try await bench.run([.filter("motionBlur", ["angle": .number(0.8)])], on: frame)
    let other = try await bench.run(
      [.filter("motionBlur", ["angle": .number(0.8 + .pi)])], on: frame)
    #expect(one.worstDifference(from: other.samples) <= 1)
  }

  @Test(arguments: PixelFormat.allCases)
  func `a zoom blur keeps its centre`(_ format: PixelFormat) async throws {
    let frame = try TestFrame.make(Self.geometry(format))
    // A pixel's centre.
    let result = try await TestBench().run(
      [.filter("zoomBlur", ["center": .vector([20.5, 12.5]), "amount": .number(60)])], on: frame)
    let offset = 12 * PlaneShape.planes(format, Self.size)[0].samples
    let step = PlaneShape.planes(format, Self.size)[0].step
    for channel in 0 ..< step {
      #expect(
        result.samples[0][offset + 20 * step + channel]
          == frame.samples[0][offset + 20 * step + channel])
    }
    #expect(result.samples != frame.samples)
  }

  @Test(arguments: [PixelFormat.i420, .nv12])
  func `sharpening luma keeps chroma`(_ format: PixelFormat) async throws {
    let frame = try TestFrame.make(Self.geometry(format))
    let result = try await TestBench().run(
      [.filter("sharpenLuminance", ["sharpness": .number(40)])], on: frame)
    #expect(result.samples.dropFirst() == frame.samples.dropFirst())
    #expect(result.samples[0] != frame.samples[0])
  }

  @Test(arguments: [2.0, 25])
  func `bloom only brightens, and gloom is its opposite`(_ radius: Double) async throws {
    let frame = try TestFrame.make(Self.geometry(.rgb24))
    let settings: [String: ParameterValue] = ["radius": .number(radius), "intensity": .number(1)]
    let bench = TestBench()
    let bloom = try await bench.run([.filter("bloom", settings)], on: frame)
    #expect(zip(bloom.samples[0], frame.samples[0]).allSatisfy { $0 >= $1 })
    #expect(bloom.samples != frame.samples)
    let opposite = try await bench.run(
      [.filter("colorInvert"), .filter("gloom", settings), .filter("colorInvert")], on: frame)
    #expect(opposite.worstDifference(from: bloom.samples) <= 1)
  }

  /// The definition in RGB, pixel by pixel, against the planes of YUV.
  @Test(arguments: [PixelFormat.i420, .nv12, .rgb24, .gray8], [9, 25])
  func `a convolution of planes is the convolution of RGB`(
    _ format: PixelFormat, _ count: Int
  ) async throws {
    let size = FrameSize(width: 40, height: 26)
    let weights = (0 ..< count).map { Double($0 * 5 % 7 - 2) / Double(count) }
    for color in FilterOracleTests.colors(format) {
      let geometry = FrameGeometry(format: format, size: size, color: color)
      let frame = try TestFrame.make(geometry)
      let result = try await TestBench().run(
        [
          .filter(
            count == 9 ? "convolution3X3" : "convolution5X5",
            ["weights": .vector(weights), "bias": .number(0.2)])
        ], on: frame)
      var picture = ReferencePicture(frame)
      let pixels = picture.pixels
      let side = count == 9 ? 3 : 5
      for y in 0 ..< size.height {
        for x in 0 ..< size.width {
          var sum: SIMD4<Double> = [0.2, 0.2, 0.2, 0]
          for (index, weight) in weights.enumerated() {
            let column = min(max(x + index % side - side / 2, 0), size.width - 1)
            let row = min(max(y + index / side - side / 2, 0), size.height - 1)
            sum += pixels[row * size.width + column] * weight
          }
          sum.w = 1
          picture.pixels[y * size.width + x] = sum
        }
      }
      #expect(result.worstDifference(from: picture.encoded()) <= 1, "\(color)")
    }
  }

  @Test func `the guide's convolution is an emboss about its bias`() async throws {
    let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: 5, height: 3))
    let frame = try TestFrame.make(geometry, padding: .packed) { _, x, y, _ in
      UInt8(10 + 20 * x + 3 * y)
    }
    let result = try await TestBench().run(
      [
        .filter(
          "convolution3X3",
          ["weights": .vector([0, 1, 0, -1, 0, 1, 0, -1, 0]), "bias": .number(0.6)])
      ], on: frame)
    // In the middle: above less below is -6, right less left is 40; 0.6 is 153.
    #expect(result.samples[0][5 + 2] == 153 - 6 + 40)
  }

  @Test(arguments: ["boxBlur", "motionBlur", "unsharpMask", "convolution3X3", "holeDistortion"])
  func `the fourth byte of an opaque frame does not change`(_ name: String) async throws {
    let frame = try TestFrame.make(Self.geometry(.rgba8), padding: .aligned) { _, x, y, channel in
      UInt8((x * 5 + y * 3 + channel * 60) % 256)
    }
    let result = try await TestBench().run(
      [.filter(name, name == "convolution3X3" ? ["bias": .number(0.1)] : [:])], on: frame)
    #expect(result.samples != frame.samples)
    for index in stride(from: 3, to: result.samples[0].count, by: 4) {
      #expect(result.samples[0][index] == frame.samples[0][index])
    }
  }

  @Test func `a hole is transparent, has its centre on its rim, and leaves the far field`()
    async throws
  {
    let geometry = FrameGeometry(
      format: .rgba8, size: FrameSize(width: 401, height: 401),
      color: ColorDescription(alpha: .straight))
    let frame = try TestFrame.make(geometry, padding: .packed) { _, x, y, channel in
      channel == 3 ? 255 : (198 ... 202).contains(x) && (198 ... 202).contains(y) ? 250 : 20
    }
    let result = try await TestBench().run(
      [.filter("holeDistortion", ["radius": .number(30)])], on: frame)
    func pixel(_ x: Int, _ y: Int) -> [UInt8] {
      Array(result.samples[0][(y * 401 + x) * 4 ..< (y * 401 + x) * 4 + 4])
    }
    #expect(pixel(200, 200)[3] == 0)
    #expect(pixel(228, 200)[3] == 0)
    #expect(pixel(231, 200) == [250, 250, 250, 255])
    #expect(pixel(390, 200) == [20, 20, 20, 255])
    let black = try await TestBench().run(
      [.filter("holeDistortion", ["radius": .number(30)])],
      on: TestFrame.flat(Self.geometry(.i420), 180))
    #expect(black.samples[0][27 * 75 + 37] == 16)
    #expect(black.samples[1][13 * 38 + 18] == 128)
  }

  @Test func `a twirl by whole turns keeps the centre`() async throws {
    let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: 201, height: 201))
    let frame = try TestFrame.make(geometry, padding: .packed) { _, x, y, _ in
      x > 100 ? 200 : 40
    }
    func middle(_ angle: Double) async throws -> [UInt8] {
      let result = try await TestBench().run(
        [.filter("twirlDistortion", ["angle": .number(angle), "radius": .number(5000)])],
        on: frame)
      return [(104, 100), (100, 96), (96, 100), (100, 104)].map {
        result.samples[0][$0.1 * 201 + $0.0]
      }
    }
    // Right, above, left, below: half a turn swaps right and left; a quarter takes right to above.
    #expect(try await middle(2 * .pi)[0] == 200)
    #expect(try await middle(.pi)[0] == 40)
    #expect(try await middle(.pi / 2)[1] == 200)
    #expect(try await middle(.pi / 2)[3] == 40)
  }

  @Test(arguments: ["bumpDistortion", "pinchDistortion", "twirlDistortion"])
  func `pixels beyond the radius do not change`(_ name: String) async throws {
    let frame = try TestFrame.make(Self.geometry(.bgra8))
    let result = try await TestBench().run([.filter(name, ["radius": .number(20)])], on: frame)
    #expect(result.samples != frame.samples)
    for y in 0 ..< Self.size.height {
      for x in 0 ..< Self.size.width {
        let (dx, dy) = (Double(x) - 37, Double(y) - 26.5)
        guard dx * dx + dy * dy > 400 else { continue }
        let offset = (y * Self.size.width + x) * 4
        #expect(
          result.samples[0][offset ..< offset + 4].elementsEqual(
            frame.samples[0][offset ..< offset + 4]))
      }
    }
  }

  @Test func `a median removes a speck and keeps an edge`() async throws {
    let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: 90, height: 40))
    let clean = try TestFrame.make(geometry, padding: .packed) { _, x, _, _ in x < 45 ? 40 : 200 }
    let dirty = try TestFrame.make(geometry, padding: .packed) { _, x, y, _ in
      x % 9 == 4 && y % 7 == 3 ? 255 : x < 45 ? 40 : 200
    }
    let result = try await TestBench().run([.filter("median")], on: dirty)
    #expect(result.samples == clean.samples)
  }
}
