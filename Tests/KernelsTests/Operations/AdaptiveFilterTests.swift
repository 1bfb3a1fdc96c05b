import SidelightKernelLanguage
import SidelightKernels
import Testing

/// Filters that measure a picture's light: `whiteBalance` and `lowLight`, on separate pictures.
@Suite struct `Filters that adapt to the light` {
  static let size = FrameSize(width: 96, height: 64)
  static let rgb = FrameGeometry(format: .rgb24, size: Self.size)

  static let pipelines: [Pipeline] = [
    [.filter("whiteBalance")],
    [.filter("whiteBalance", ["amount": .number(0.6), "warmth": .number(0.5)])],
    [.filter("sepiaTone"), .filter("whiteBalance"), .filter("colorControls")],
    [
      .filter("vignette", ["intensity": .number(1)]), .filter("whiteBalance"), .filter("glow"),
    ],
    [
      .filter("gaussianBlur", ["radius": .number(2)]),
      Stage(.filter(FilterCall(name: "whiteBalance")), mix: 0.4),
    ],
    [
      Stage(
        .filter(FilterCall(name: "whiteBalance")),
        region: Region(
          origin: FramePoint(x: Length(1), y: Length(2)), width: Length(0.6, .width),
          height: Length(0.5, .height)))
    ],
    Pipeline(
      stages: [.filter("whiteBalance"), .filter("exposureAdjust", ["ev": .number(0.2)])],
      workingSpace: .sRGBLinear),
  ]

  @Test(arguments: Self.pipelines, PixelFormat.allCases)
  func `balanced pictures are within a level of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await FormatSweep.compare(pipeline, format)
  }

  /// A picture of a fifth of the light, with coarse noise.
  static func dark(
    _ geometry: FrameGeometry, seed: UInt64, padding: TestFrame.Padding
  ) throws -> Frame {
    let bright = try TestFrame.make(geometry, seed: seed, padding: .packed).samples
    let shapes = PlaneShape.planes(geometry.format, geometry.size)
    return try TestFrame.make(geometry, padding: padding) { plane, x, y, channel in
      let index = y * shapes[plane].samples + x * shapes[plane].step + channel
      let value = bright[plane][index]
      if geometry.format.hasAlpha, channel == 3 { return value }
      let isChroma = geometry.format.isYUV && plane > 0
      let black: UInt8 = geometry.format.isYUV && geometry.color.range == .video ? 16 : 0
      return isChroma ? 112 + value / 8 : black + value / 5
    }
  }

  static let brightening: [Pipeline] = [
    [.filter("lowLight", ["denoise": .number(0)])],
    [.filter("lowLight")],
    [.filter("lowLight", ["amount": .number(0.5), "denoise": .number(1)])],
    [
      .filter("exposureAdjust", ["ev": .number(0.5)]),
      Stage(.filter(FilterCall(name: "lowLight")), mix: 0.6), .filter("colorInvert"),
    ],
    Pipeline(
      stages: [.filter("lowLight"), .filter("exposureAdjust", ["ev": .number(-0.3)])],
      workingSpace: .sRGBLinear),
  ]

  @Test(arguments: Self.brightening, PixelFormat.allCases)
  func `brightened pictures are within two levels of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await FormatSweep.compare(pipeline, format, tolerance: 2) {
      try Self.dark($0, seed: $1, padding: $2)
    }
  }

  static func frame(_ color: (_ x: Int, _ y: Int) -> SIMD3<UInt8>) throws -> Frame {
    try TestFrame.make(Self.rgb, padding: .aligned) { _, x, y, channel in color(x, y)[channel] }
  }

  /// The first pixel of the result for a flat picture.
  static func color(
    _ color: SIMD3<UInt8>, _ name: String, _ parameters: [String: ParameterValue] = [:]
  ) async throws -> SIMD3<Double> {
    let result = try await TestBench().run(
      [.filter(name, parameters)], on: try Self.frame { _, _ in color })
    let samples = result.samples[0]
    return [Double(samples[0]), Double(samples[1]), Double(samples[2])]
  }

  static let luma = SIMD3(0.2126, 0.7152, 0.0722)

  @Test(arguments: [
    SIMD3<UInt8>(150, 120, 90), [90, 120, 150], [110, 140, 100], [60, 40, 45], [200, 220, 180],
  ])
  func `a tinted grey becomes neutral and keeps its luma`(_ tint: SIMD3<UInt8>) async throws {
    let result = try await Self.color(tint, "whiteBalance")
    #expect(result.max() - result.min() <= 1)
    let before = (SIMD3(Double(tint.x), Double(tint.y), Double(tint.z)) * Self.luma).sum()
    #expect(abs((result * Self.luma).sum() - before) <= 1)
  }

  @Test func `neutral pictures do not change, and tints beyond the limit keep some`() async throws {
    for format in PixelFormat.allCases {
      let frame = try TestFrame.make(
        FrameGeometry(format: format, size: Self.size), padding: .aligned
      ) { plane, x, y, _ in format.isYUV && plane > 0 ? 128 : UInt8(20 + 2 * x + y / 2) }
      let result = try await TestBench().run([.filter("whiteBalance")], on: frame)
      #expect(result.worstDifference(from: frame.samples) == 0, "\(format)")
    }
    let extreme = try await Self.color([240, 90, 30], "whiteBalance")
    #expect(extreme.x > extreme.y && extreme.y > extreme.z)
  }

  @Test func `warmth keeps warm light and no other, and amount scales`() async throws {
    let warm: SIMD3<UInt8> = [150, 122, 99]
    let kept = try await Self.color(warm, "whiteBalance", ["warmth": .number(1)])
    // Red over blue stays; green is on the line between them.
    #expect(abs(kept.x / kept.z - 150.0 / 99) < 0.03)
    #expect(abs(kept.y * kept.y - kept.x * kept.z) < 2 * 1.5 * 122)
    let cool = try await Self.color([99, 122, 150], "whiteBalance", ["warmth": .number(1)])
    #expect(cool.max() - cool.min() <= 1)
    let half = try await Self.color(warm, "whiteBalance", ["amount": .number(0.5)])
    #expect(abs(half.x / half.z - (150.0 / 99).squareRoot()) < 0.02)
  }

  @Test func `clipped, black and colourful pixels have no share in the light`() async throws {
    // A third is lit grey; the others would give another estimate.
    let frame = try Self.frame { x, y in
      switch (x + y) % 6 {
      case 0, 1: [100, 120, 140]
      case 2: [255, 200, 40]
      case 3: [15, 3, 0]
      case 4: [140, 30, 20]
      default: [30, 90, 20]
      }
    }
    let result = try await TestBench().run([.filter("whiteBalance")], on: frame)
    let pixel = result.samples[0].prefix(3)
    #expect(Int(pixel.max() ?? 255) - Int(pixel.min() ?? 0) <= 2, "\(pixel)")
    let dark = try Self.frame { x, _ in x % 2 == 0 ? [15, 3, 0] : [255, 180, 90] }
    #expect(
      try await TestBench().run([.filter("whiteBalance")], on: dark).samples == dark.samples,
      "nothing to measure")
  }

  @Test func `transparent pixels have no share in the light`() async throws {
    for alpha in [AlphaMode.straight, .premultiplied] {
      let geometry = FrameGeometry(
        format: .rgba8, size: Self.size, color: ColorDescription(alpha: alpha))
      let frame = try TestFrame.make(geometry, padding: .packed) { _, x, _, channel in
        // Half of the light of the same colour is the same colour.
        let visible: [UInt8] =
          alpha == .straight ? [100, 120, 140, 200] : [78, 94, 110, 200]
        return x % 2 == 0 ? visible[channel] : [90, 20, 10, 100][channel]
      }
      let result = try await TestBench().run([.filter("whiteBalance")], on: frame)
      let pixel = result.samples[0].prefix(3)
      #expect(Int(pixel.max() ?? 255) - Int(pixel.min() ?? 0) <= 2, "\(alpha): \(pixel)")
    }
  }

  @Test func `bright pictures keep every bit, and dark ones get the same brightness`() async throws
  {
    for format in PixelFormat.allCases {
      for color in FormatSweep.colors(format) {
        let geometry = FrameGeometry(
          format: format, size: FrameSize(width: 33, height: 17), color: color)
        let frame = try TestFrame.make(geometry, padding: .ragged) { plane, x, y, channel in
          format.hasAlpha && channel == 3
            ? 255 : plane == 0 ? UInt8(110 + x % 7 * 10 + y) : UInt8(100 + x + y)
        }
        let result = try await TestBench().run([.filter("lowLight")], on: frame)
        #expect(result.samples == frame.samples, "\(format) \(color)")
      }
    }
    for level: UInt8 in [20, 40, 60, 90] {
      let result = try await Self.color(SIMD3(repeating: level), "lowLight")
      #expect(abs(result.x - 0.38 * 255) <= 1, "\(level)")
    }
    // A gain of 8 is the greatest.
    #expect(abs(try await Self.color([6, 6, 6], "lowLight").x - 48) <= 1)
  }

  @Test func `brightening keeps ratios of channels, clips nothing and keeps the order`()
    async throws
  {
    let dark = try Self.frame { x, y in
      let level = x < 4 && y < 4 ? 250 : 2 * x / 3
      return [UInt8(level), UInt8(level * 3 / 5), UInt8(level / 4)]
    }
    let result = try await TestBench().run(
      [.filter("lowLight", ["denoise": .number(0)])], on: dark)
    let (before, after) = (dark.samples[0], result.samples[0])
    for pixel in stride(from: 0, to: before.count, by: 3) {
      let (red, green) = (Double(before[pixel]), Double(before[pixel + 1]))
      guard red > 0 else { continue }
      let ratio = Double(after[pixel + 1]) / Double(after[pixel])
      #expect(abs(ratio - green / red) * Double(after[pixel]) <= 1.1)
      #expect(after[pixel] >= before[pixel])
    }
    // A row of the ramp stays ascending, and the bright corner keeps its hue up to white.
    let row = (0 ..< 96).map { after[3 * (32 * 96 + $0)] }
    #expect(zip(row, row.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(after[0] == 255 && after[1] <= 154)
  }

  @Test func `the noise reduction grows with its parameter and with the gain`() async throws {
    /// The deviation of noise over the mean.
    func noise(_ level: Int, _ denoise: Double) async throws -> Double {
      var random = TestRandom(seed: 3)
      let frame = try Self.frame { _, _ in
        SIMD3(repeating: UInt8(level + Int.random(in: -3 ... 3, using: &random)))
      }
      let result = try await TestBench().run(
        [.filter("lowLight", ["denoise": .number(denoise)])], on: frame)
      let levels = result.samples[0].map(Double.init)
      let mean = levels.reduce(0, +) / Double(levels.count)
      let square = levels.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(levels.count)
      return square.squareRoot() / mean * Double(level)
    }
    let (plain, smooth) = (try await noise(24, 0), try await noise(24, 1))
    #expect(plain > 1.8 && smooth < 0.5 * plain)
    #expect(try await noise(24, 0.5) < plain)
    let brighter = (try await noise(80, 0), try await noise(80, 1))
    #expect(brighter.1 / brighter.0 > smooth / plain)
  }

  @Test func `settings that change nothing compile to no pass`() throws {
    let catalogue = FilterCatalogue.builtIn
    for name in ["whiteBalance", "lowLight"] {
      let plan = try catalogue.resolve([.filter(name, ["amount": .number(0)])]).plan(for: Self.rgb)
      #expect(plan.isIdentity)
    }
    let gray = FrameGeometry(format: .gray8, size: Self.size)
    #expect(try catalogue.resolve([.filter("whiteBalance")]).plan(for: gray).isIdentity)
  }

  @Test func `a balance folds with colour stages, and shares no pass with fields`() throws {
    let plan = try FilterCatalogue.builtIn.resolve([
      .filter("sepiaTone"), .filter("whiteBalance"), .filter("colorInvert"),
    ]).plan(for: Self.rgb)
    #expect(plan.passes.map(\.filters) == [["sepiaTone", "whiteBalance", "colorInvert"]])
    let vignette = try FilterCatalogue.builtIn.resolve([
      .filter("whiteBalance"), .filter("vignette", ["intensity": .number(1)]),
    ]).plan(for: Self.rgb)
    #expect(vignette.passes.map(\.filters) == [["whiteBalance"], ["vignette"]])
  }

  @Test func `stages that move pixels may come before`() throws {
    let plan = try FilterCatalogue.builtIn.resolve([
      .filter("crop", ["width": .number(40), "height": .number(30)]), .filter("whiteBalance"),
      .filter("lowLight"),
    ]).plan(for: Self.rgb)
    #expect(plan.output.size == FrameSize(width: 40, height: 30))
  }

  @Test(arguments: ["whiteBalance", "lowLight"])
  func `numbers beyond the limits, and those that are none, are refused`(_ name: String) throws {
    let description = try #require(FilterCatalogue.builtIn.entry(named: name)).description
    #expect(!description.parameters.isEmpty)
    for parameter in description.parameters {
      for value in [-0.01, 60.1, .nan, .infinity] {
        #expect(throws: PipelineError.self) {
          _ = try FilterCatalogue.builtIn.resolve([.filter(name, [parameter.name: .number(value)])])
        }
      }
    }
  }

  @Test(arguments: InstructionSet.available)
  func `each instruction set measures the same light`(_ machine: InstructionSet) async throws {
    for format in PixelFormat.allCases {
      let geometry = FrameGeometry(format: format, size: FrameSize(width: 77, height: 51))
      let frame = try Self.dark(geometry, seed: 5, padding: .aligned)
      for name in ["whiteBalance", "lowLight"] {
        let result = try await `Laws on each instruction set`.run(
          [.filter(name)], on: frame, machine)
        let portable = try await `Laws on each instruction set`.run(
          [.filter(name)], on: frame, .portable)
        let tolerance = name == "whiteBalance" ? 0.0 : 1
        #expect(result.worstDifference(from: portable.samples) <= tolerance, "\(name) \(format)")
      }
    }
  }
}
