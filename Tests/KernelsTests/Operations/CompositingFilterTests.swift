import SidelightKernels
import Testing

/// Filters with a second picture.
@Suite("Compositing filters") struct CompositingFilterTests {
  /// A bench whose catalogue knows a few images.
  static func bench(threads: Int = 2) throws -> TestBench {
    var bench = TestBench(threads: threads)
    bench.catalogue.assets = AssetStore([
      "sticker": try ChainAssets.image(21, 17, .straight, seed: 5),
      "photo": try ChainAssets.image(50, 40, .opaque, seed: 6),
      "large": try ChainAssets.image(400, 150, .premultiplied, seed: 7),
    ])
    return bench
  }

  static let pipelines: [Pipeline] = [
    [.filter("sourceOverCompositing", ["backgroundImage": .text("photo")])],
    [.filter("sourceOverCompositing", ["backgroundImage": .text("sticker"), "fit": .text("fit")])],
    [.filter("multiplyCompositing", ["backgroundImage": .text("large")])],
    [.filter("multiplyCompositing", ["backgroundImage": .text("photo"), "fit": .text("fill")])],
    [.filter("screenBlendMode", ["backgroundImage": .text("sticker")])],
    [.filter("screenBlendMode", ["backgroundImage": .text("photo")])],
    [.filter("blendWithMask", ["maskImage": .text("sticker")])],
    [
      .filter(
        "blendWithMask", ["maskImage": .text("large"), "backgroundImage": .text("photo")])
    ],
    [.filter("lumaKey", ["high": .number(0.6), "backgroundImage": .text("photo")])],
    [
      .filter(
        "lumaKey",
        [
          "low": .number(0.4), "high": .number(0.9), "invert": .flag(true),
          "backgroundImage": .text("sticker"), "fit": .text("fit"),
          "backgroundColor": .vector([0.1, 0.8, 0.3, 0.5]),
        ])
    ],
    [.filter("overlay", ["asset": .text("sticker")])],
    [
      .filter(
        "overlay",
        [
          "asset": .text("sticker"), "origin": .vector([3.5, -2]), "width": .number(40),
          "height": .length(Length(0.8, .height)), "opacity": .number(0.6),
          "scale": .number(1.3), "fit": .text("fill"),
        ])
    ],
    [
      .filter("vignette", ["intensity": .number(1)]),
      .filter("overlay", ["asset": .text("large")]), .filter("sepiaTone"),
    ],
  ]

  @Test(arguments: Self.pipelines, PixelFormat.allCases)
  func `results are within a level of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await FormatSweep.compare(pipeline, format, bench: try Self.bench())
  }

  @Test func `a large image that covers one pixel has its mean colour`() async throws {
    let bench = try Self.bench()
    let pipeline: Pipeline = [
      .filter(
        "overlay",
        [
          "asset": .text("large"), "origin": .vector([0.5, 0]), "width": .number(1e-9),
          "fit": .text("stretch"),
        ])
    ]
    try await FormatSweep.compare(pipeline, .bgra8, bench: bench)
  }

  /// A flat image under that name, and a flat frame through a stage.
  static func compose(
    _ stage: Stage, frame: SIMD4<UInt8>, image: SIMD4<UInt8>, alpha: AlphaMode = .straight
  ) async throws -> [UInt8] {
    func flat(_ color: SIMD4<UInt8>, _ mode: AlphaMode) throws -> Frame {
      try TestFrame.make(
        FrameGeometry(
          format: .rgba8, size: FrameSize(width: 8, height: 4),
          color: ColorDescription(alpha: mode)), padding: .aligned
      ) { _, _, _, channel in color[channel] }
    }
    var bench = TestBench()
    bench.catalogue.assets = AssetStore([
      "image": .image(try ImageAsset(try flat(image, .straight))),
      "half": .image(try ImageAsset(try flat([128, 128, 128, 255], .opaque))),
    ])
    return Array(try await bench.run([stage], on: try flat(frame, alpha)).samples[0][0 ..< 4])
  }

  static func named(_ name: String) -> Stage {
    .filter(name, ["backgroundImage": .text("image")])
  }

  @Test func `an opaque picture hides its background, and a clear one shows it`() async throws {
    let over = Self.named("sourceOverCompositing")
    let hidden = try await Self.compose(over, frame: [9, 8, 7, 255], image: [200, 100, 50, 255])
    #expect(hidden == [9, 8, 7, 255])
    let shown = try await Self.compose(over, frame: [9, 8, 7, 0], image: [200, 100, 50, 255])
    #expect(shown == [200, 100, 50, 255])
    // .4 of 250 and .6 of 100, all opaque.
    let mixed = try await Self.compose(over, frame: [250, 0, 0, 102], image: [100, 100, 0, 255])
    #expect(mixed == [160, 60, 0, 255])
  }

  @Test func `two half clear pictures cover three quarters`() async throws {
    let result = try await Self.compose(
      Self.named("sourceOverCompositing"), frame: [255, 0, 0, 128], image: [0, 0, 255, 128])
    // .502 + .502 * .498; red .502 / .752, blue .25 / .752.
    #expect(result == [170, 0, 85, 192])
  }

  @Test func `multiplying by white and screening by black change nothing`() async throws {
    let white: SIMD4<UInt8> = [255, 255, 255, 255]
    let black: SIMD4<UInt8> = [0, 0, 0, 255]
    let color: SIMD4<UInt8> = [10, 120, 240, 255]
    let bytes: [UInt8] = [10, 120, 240, 255]
    for mode in [AlphaMode.straight, .opaque] {
      let multiply = Self.named("multiplyCompositing")
      let screen = Self.named("screenBlendMode")
      #expect(try await Self.compose(multiply, frame: color, image: white, alpha: mode) == bytes)
      #expect(try await Self.compose(screen, frame: color, image: black, alpha: mode) == bytes)
      let dark = try await Self.compose(multiply, frame: color, image: black, alpha: mode)
      #expect(dark == [0, 0, 0, 255])
      let light = try await Self.compose(screen, frame: color, image: white, alpha: mode)
      #expect(light == [255, 255, 255, 255])
    }
  }

  @Test func `a mask chooses between picture and background by its luma`() async throws {
    let stage = Stage.filter(
      "blendWithMask", ["backgroundImage": .text("image"), "maskImage": .text("half")])
    let result = try await Self.compose(
      stage, frame: [200, 0, 0, 255], image: [0, 100, 0, 255], alpha: .opaque)
    #expect(result == [100, 50, 0, 255])
    let alone = Stage.filter("blendWithMask", ["maskImage": .text("half")])
    let clear = try await Self.compose(alone, frame: [200, 0, 0, 255], image: [0, 0, 0, 0])
    #expect(clear == [200, 0, 0, 128])
    let black = try await Self.compose(
      alone, frame: [200, 0, 0, 255], image: [0, 0, 0, 0], alpha: .opaque)
    #expect(black == [100, 0, 0, 255])
  }

  @Test func `a luma key replaces dark pixels, and inverted bright ones`() async throws {
    let key = Self.named("lumaKey")
    let dark: SIMD4<UInt8> = [10, 10, 10, 255]
    let bright: SIMD4<UInt8> = [250, 240, 230, 255]
    let image: SIMD4<UInt8> = [0, 100, 200, 255]
    let replaced = try await Self.compose(key, frame: dark, image: image)
    #expect(replaced == [0, 100, 200, 255])
    let kept = try await Self.compose(key, frame: bright, image: image)
    #expect(kept == [250, 240, 230, 255])
    let inverted = Stage.filter(
      "lumaKey",
      [
        "low": .number(0.5), "high": .number(0.8), "invert": .flag(true),
        "backgroundColor": .vector([1, 0, 0]),
      ])
    let keptDark = try await Self.compose(inverted, frame: dark, image: image)
    #expect(keptDark == [10, 10, 10, 255])
    let red = try await Self.compose(inverted, frame: bright, image: image)
    #expect(red == [255, 0, 0, 255])
  }

  @Test func `a luma key without a background leaves transparency, or black`() async throws {
    let key = Stage.filter("lumaKey", ["low": .number(0), "high": .number(1)])
    let none: SIMD4<UInt8> = [0, 0, 0, 0]
    // Luma 51 of 255: smoothstep(.2) = .104, of 255 26.5.
    let clear = try await Self.compose(key, frame: [51, 51, 51, 255], image: none)
    #expect(clear == [51, 51, 51, 27])
    let black = try await Self.compose(key, frame: [0, 0, 0, 255], image: none)
    #expect(black == [0, 0, 0, 0])
    // On black in an opaque picture: 51 * .104.
    let dark = try await Self.compose(
      key, frame: [51, 51, 51, 255], image: none, alpha: .opaque)
    #expect(dark == [5, 5, 5, 255])
  }

  @Test func `a sticker covers its rectangle and nothing else`() async throws {
    var bench = TestBench()
    let white = try TestFrame.flat(
      FrameGeometry(format: .rgb24, size: FrameSize(width: 3, height: 5)), 255)
    bench.catalogue.assets = AssetStore(["logo": .image(try ImageAsset(white))])
    let frame = try TestFrame.flat(
      FrameGeometry(format: .gray8, size: FrameSize(width: 40, height: 30)), 50)
    func covered(_ parameters: [String: ParameterValue]) async throws -> [ClosedRange<Int>] {
      let stage = Stage.filter(
        "overlay", parameters.merging(["asset": .text("logo")]) { given, _ in given })
      let samples = try await bench.run([stage], on: frame).samples[0]
      #expect(samples.allSatisfy { $0 == 50 || $0 == 255 })
      let lit = samples.indices.filter { samples[$0] == 255 }
      guard let first = lit.first, let last = lit.last else { return [] }
      let area = (last % 40 - first % 40 + 1) * (last / 40 - first / 40 + 1)
      #expect(lit.count == area)
      return [first % 40 ... last % 40, first / 40 ... last / 40]
    }
    let placement: [String: ParameterValue] = [
      "origin": .vector([10, 4]), "width": .number(12), "height": .number(10),
    ]
    #expect(try await covered(placement) == [13 ... 18, 4 ... 13])
    let stretched = placement.merging(["fit": .text("stretch")]) { $1 }
    #expect(try await covered(stretched) == [10 ... 21, 4 ... 13])
    #expect(
      try await covered(stretched.merging(["offset": .vector([-12, 20])]) { $1 })
        == [0 ... 9, 24 ... 29])
    #expect(
      try await covered(stretched.merging(["scale": .number(0.5)]) { $1 })
        == [13 ... 18, 6 ... 10])
    #expect(
      try await covered(placement.merging(["fit": .text("fill")]) { $1 }) == [10 ... 21, 4 ... 13])
    #expect(try await covered(["origin": .vector([100, 100])]) == [])
  }

  @Test func `an image of the frame's size is not resampled`() async throws {
    var bench = TestBench()
    let photo = try TestFrame.make(
      FrameGeometry(format: .rgb24, size: FrameSize(width: 37, height: 23)), seed: 9)
    bench.catalogue.assets = AssetStore(["photo": .image(try ImageAsset(photo))])
    let frame = try TestFrame.make(photo.geometry, seed: 10)
    let result = try await bench.run([.filter("overlay", ["asset": .text("photo")])], on: frame)
    #expect(result.samples == photo.samples)
  }

  @Test(arguments: PixelFormat.allCases)
  func `an image may have any format`(_ format: PixelFormat) async throws {
    let geometry = FrameGeometry(
      format: format, size: FrameSize(width: 33, height: 19),
      color: ColorDescription(alpha: .opaque))
    let photo = try TestFrame.make(geometry, seed: 9, padding: .ragged)
    var bench = TestBench()
    bench.catalogue.assets = AssetStore(["photo": .image(try ImageAsset(photo))])
    let frame = try TestFrame.make(geometry, seed: 10)
    let result = try await bench.run([.filter("overlay", ["asset": .text("photo")])], on: frame)
    let expected = photo.samples
    for (plane, samples) in result.samples.enumerated() {
      for (index, sample) in samples.enumerated() where !format.hasAlpha || index % 4 != 3 {
        #expect(abs(Int(sample) - Int(expected[plane][index])) <= (format.isYUV ? 1 : 0))
      }
    }
  }

  @Test func `bands do not change the result`() async throws {
    let frame = try TestFrame.make(
      FrameGeometry(format: .nv12, size: FrameSize(width: 801, height: 603)))
    let pipeline: Pipeline = [
      .filter("overlay", ["asset": .text("large"), "opacity": .number(0.5)]),
      .filter("multiplyCompositing", ["backgroundImage": .text("photo")]),
    ]
    let whole = try await Self.bench(threads: 1).run(pipeline, on: frame)
    let banded = try await Self.bench(threads: 5).run(pipeline, on: frame)
    #expect(whole.samples == banded.samples)
  }

  @Test func `compositing shares a pass with its neighbours`() throws {
    let bench = try Self.bench()
    let pipeline: Pipeline = [
      .filter("vignette", ["intensity": .number(1)]),
      .filter("lumaKey", ["backgroundImage": .text("photo")]),
      .filter("overlay", ["asset": .text("large")]), .filter("sepiaTone"),
    ]
    let plan = try bench.catalogue.resolve(pipeline).plan(
      for: FrameGeometry(format: .i420, size: FrameSize(width: 64, height: 64)))
    #expect(plan.passes.map(\.name) == ["vignette+lumaKey+overlay+sepiaTone"])
  }
}
