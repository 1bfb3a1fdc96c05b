import SidelightKernelLanguage
import SidelightKernels
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Linear light.
@Suite struct `The working space` {
  static func linear(_ stages: Stage...) -> Pipeline {
    Pipeline(stages: stages, workingSpace: .sRGBLinear)
  }

  static let pipelines: [Pipeline] = [
    Self.linear(.filter("exposureAdjust", ["ev": .number(0.7)])),
    Self.linear(.filter("sepiaTone"), .filter("colorControls", ["saturation": .number(1.3)])),
    Self.linear(.filter("vignette", ["intensity": .number(1)]), .filter("colorInvert")),
    Self.linear(Stage(.filter(FilterCall(name: "colorInvert")), mix: 0.4)),
    [.filter("sepiaTone"), Stage(.pipeline(Self.linear(.filter("glow"))), mix: 0.5)],
    Self.linear(
      Stage(.pipeline(Pipeline(stages: [.filter("sepiaTone")], workingSpace: .sRGBGamma))),
      .filter("exposureAdjust", ["ev": .number(-0.3)])),
  ]

  @Test(arguments: Self.pipelines, PixelFormat.allCases)
  func `pointwise filters are within a level of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await FormatSweep.compare(pipeline, format)
  }

  /// Between passes linear light is held in 1/32 level, and the darkest parts are magnified 13-fold
  /// when they are encoded.
  static let wide: [Pipeline] = [
    Self.linear(.filter("gaussianBlur", ["radius": .number(2)])),
    Self.linear(
      .filter("exposureAdjust", ["ev": .number(0.5)]), .filter("boxBlur"),
      .filter("vignette", ["intensity": .number(1)])),
  ]

  @Test(arguments: Self.wide, PixelFormat.allCases)
  func `neighbourhood filters are within two levels of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await FormatSweep.compare(pipeline, format, tolerance: 2)
  }

  static let size = FrameSize(width: 12, height: 4)

  static func color(_ pipeline: Pipeline, _ pixel: SIMD4<UInt8>) async throws -> [UInt8] {
    let geometry = FrameGeometry(format: .rgba8, size: Self.size)
    let frame = try TestFrame.make(geometry, padding: .packed) { _, _, _, channel in
      pixel[channel]
    }
    return Array(try await TestBench().run(pipeline, on: frame).samples[0][0 ..< 4])
  }

  @Test func `one stop less halves the light`() async throws {
    // IEC 61966-2-1: 188 encodes .5029, whose half is encoded 137.4.
    let result = try await Self.color(
      Self.linear(.filter("exposureAdjust", ["ev": .number(-1)])), [188, 188, 188, 255])
    func decoded(_ level: Double) -> Double { pow((level / 255 + 0.055) / 1.055, 2.4) }
    let expected = (1.055 * pow(decoded(188) / 2, 1 / 2.4) - 0.055) * 255
    #expect(abs(Double(result[0]) - expected) <= 0.51)
    #expect(abs(expected - 137.4) < 0.1)
  }

  @Test func `blurring black and white gives half of the light`() async throws {
    let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: 200, height: 4))
    let frame = try TestFrame.make(geometry, padding: .packed) { _, x, _, _ in
      x.isMultiple(of: 2) ? 0 : 255
    }
    let blur = Stage.filter("boxBlur", ["radius": .number(10.5)])
    let gamma = try await TestBench().run([blur], on: frame).samples[0][100]
    let linear = try await TestBench().run(Self.linear(blur), on: frame).samples[0][100]
    // Half of the light is 187.5 levels.
    #expect(abs(Int(gamma) - 128) <= 1)
    #expect(abs(Int(linear) - 188) <= 1)
  }

  @Test func `every level is restored after a conversion and back`() async throws {
    let frame = try TestFrame.make(
      FrameGeometry(format: .gray8, size: FrameSize(width: 256, height: 2)), padding: .packed
    ) { _, x, _, _ in UInt8(x) }
    // A kernel that keeps its input, to put a pass in between.
    let pipeline = Self.linear(.filter("gammaAdjust", ["power": .number(1.000001)]))
    #expect(try await TestBench().run(pipeline, on: frame).samples == frame.samples)
  }

  static func plan(_ pipeline: Pipeline) throws -> Plan {
    try FilterCatalogue.builtIn.resolve(pipeline).plan(
      for: FrameGeometry(format: .bgra8, size: Self.size))
  }

  @Test func `neutral settings compile to no pass in linear light`() throws {
    #expect(try Self.plan(Self.linear()).isIdentity)
    #expect(try Self.plan(Self.linear(.filter("colorControls"))).isIdentity)
    #expect(
      try Self.plan(Self.linear(.filter("colorInvert"), .filter("colorInvert"))).isIdentity)
    #expect(try Self.plan(Self.linear(.filter("brightnessStatistics"))).isIdentity)
    #expect(try Self.plan([Stage(.pipeline(Self.linear()))]).isIdentity)
  }

  @Test func `matrices fold within a space and not across spaces`() throws {
    let sepia = Stage.filter("sepiaTone")
    let hue = Stage.filter("hueAdjust", ["angle": .number(1)])
    let linear = try Self.plan(Self.linear(sepia, hue)).passes
    #expect(linear.map(\.name) == ["workingSpace+sepiaTone+hueAdjust+workingSpace"])
    #expect(
      linear[0].summary
        == "decoded to linear light, then one colour matrix, then encoded from linear light, in "
        + "strips")
    let mixed = try Self.plan([sepia, Stage(.pipeline(Self.linear(hue)))]).passes
    #expect(mixed.map(\.name) == ["sepiaTone+workingSpace+hueAdjust+workingSpace"])
    // Leaving a space and entering it again has no effect.
    let twice = try Self.plan([
      Stage(.pipeline(Self.linear(sepia))), Stage(.pipeline(Self.linear(hue))),
    ])
    #expect(twice.passes[0].summary == linear[0].summary)
  }

  @Test func `a nested pipeline that names no space equals its stages inlined`() async throws {
    let sepia = Stage.filter("sepiaTone")
    let blur = Stage.filter("gaussianBlur", ["radius": .number(2)])
    let frame = try TestFrame.make(FrameGeometry(format: .i420, size: Self.size))
    let bench = TestBench()
    let nested = try await bench.run(Self.linear(Stage(.pipeline([sepia, blur]))), on: frame)
    let flat = try await bench.run(Self.linear(sepia, blur), on: frame)
    #expect(nested.samples == flat.samples)
    let named = Pipeline(stages: [sepia, blur], workingSpace: .sRGBLinear)
    #expect(
      try bench.catalogue.resolve(Self.linear(Stage(.pipeline(named))))
        == bench.catalogue.resolve(Self.linear(Stage(.pipeline([sepia, blur])))))
  }

  @Test func `pipelines in different spaces differ`() throws {
    let catalogue = FilterCatalogue.builtIn
    let sepia = Stage.filter("sepiaTone")
    let gamma = try catalogue.resolve([sepia])
    #expect(try catalogue.resolve(Self.linear(sepia)) != gamma)
    #expect(
      try catalogue.resolve(Pipeline(stages: [sepia], workingSpace: .sRGBGamma)) == gamma)
  }

  @Test func `a function of the frame gets gamma-encoded samples`() async throws {
    var bench = TestBench()
    bench.catalogue.register(
      CustomFilter("fill", "Sets every sample to 188.") { _, output, _ in
        for y in 0 ..< Self.size.height {
          output.withMutableRow(y) { row in
            for x in 0 ..< row.byteCount {
              row.storeBytes(of: 188, toByteOffset: x, as: UInt8.self)
            }
          }
        }
      })
    let frame = try TestFrame.flat(FrameGeometry(format: .gray8, size: Self.size), 40)
    let result = try await bench.run(Self.linear(.filter("fill")), on: frame)
    #expect(result.samples[0].allSatisfy { $0 == 188 })
  }

  @Test(arguments: PixelFormat.allCases)
  func `images are converted to the space, and masks are not`(_ format: PixelFormat) async throws {
    let bench = try CompositingFilterTests.bench()
    for stage in [
      Stage.filter("overlay", ["asset": .text("sticker"), "opacity": .number(0.6)]),
      .filter("multiplyCompositing", ["backgroundImage": .text("photo")]),
      .filter("sourceOverCompositing", ["backgroundImage": .text("large")]),
      .filter(
        "blendWithMask", ["maskImage": .text("large"), "backgroundImage": .text("photo")]),
    ] {
      try await FormatSweep.compare(Self.linear(stage), format, tolerance: 1.5, bench: bench)
    }
  }

  @Test func `an opaque image looks the same in every space`() async throws {
    var bench = TestBench()
    let photo = try TestFrame.make(
      FrameGeometry(format: .rgb24, size: FrameSize(width: 37, height: 23)), seed: 9)
    bench.catalogue.assets = AssetStore(["photo": .image(try ImageAsset(photo))])
    let frame = try TestFrame.make(photo.geometry, seed: 10)
    let result = try await bench.run(
      Self.linear(.filter("overlay", ["asset": .text("photo")])), on: frame)
    #expect(result.worstDifference(from: photo.samples) <= 1)
  }
}
