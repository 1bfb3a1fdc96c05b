import SidelightKernelLanguage
import SidelightKernels
import Testing

/// The filter `chromaKey`.
@Suite struct `The chroma key` {
  static let size = FrameSize(width: 640, height: 360)

  static func bench() throws -> TestBench {
    var bench = TestBench()
    bench.catalogue.assets = AssetStore([
      "sticker": try ChainAssets.image(21, 17, .straight, seed: 5),
      "photo": try ChainAssets.image(50, 40, .opaque, seed: 6),
    ])
    return bench
  }

  static let pipelines: [Pipeline] = [
    [.filter("chromaKey")],
    [.filter("chromaKey", ["backgroundImage": .text("photo"), "spill": .number(0.5)])],
    [
      .filter(
        "chromaKey",
        [
          "color": .color(RGBAColor(red: 0.2, green: 0.3, blue: 0.9)), "near": .number(0.02),
          "far": .number(0.3), "backgroundImage": .text("sticker"), "fit": .text("fit"),
          "backgroundColor": .color(RGBAColor(red: 0.9, green: 0.4, blue: 0.1, alpha: 0.5)),
        ])
    ],
    // A grey key is a point, without a channel that spills.
    [
      .filter(
        "chromaKey",
        [
          "color": .color(RGBAColor(red: 0.5, green: 0.5, blue: 0.5)), "far": .number(0.15),
          "backgroundColor": .color(RGBAColor(red: 1, green: 1, blue: 1)),
        ])
    ],
    [.filter("colorInvert"), .filter("chromaKey"), .filter("colorInvert")],
  ]

  @Test(arguments: Self.pipelines, PixelFormat.allCases)
  func `within a level of the reference`(_ pipeline: Pipeline, _ format: PixelFormat) async throws {
    try await FormatSweep.compare(pipeline, format, bench: try Self.bench())
  }

  /// Frames that are reduced by 2, 3 and 4, at odd sizes and in all formats.
  @Test(arguments: PixelFormat.allCases)
  func `reduced frames are within a level of the reference`(_ format: PixelFormat) async throws {
    let bench = try Self.bench()
    for (width, height) in [(321, 19), (641, 3), (9, 545), (1283, 7)] {
      for color in FormatSweep.colors(format) {
        let geometry = FrameGeometry(
          format: format, size: FrameSize(width: width, height: height), color: color)
        let frame = try TestFrame.make(geometry, padding: .ragged)
        for pipeline in Self.pipelines.prefix(2) {
          let result = try await bench.run(pipeline, on: frame)
          let expected = try bench.reference(pipeline, on: frame)
          #expect(result.worstDifference(from: expected) <= 1, "\(geometry.size) \(color)")
        }
      }
    }
  }

  @Test(arguments: [PixelFormat.bgra8, .i420, .nv12])
  func `in place and in bands it gives the same samples`(_ format: PixelFormat) async throws {
    let geometry = FrameGeometry(
      format: format, size: FrameSize(width: 333, height: 211),
      color: ColorDescription(alpha: .opaque))
    let frame = try TestFrame.make(geometry, padding: .ragged)
    let pipeline: Pipeline = [.filter("chromaKey", ["near": .number(0.2), "far": .number(0.4)])]
    let expected = try await TestBench(threads: 1).run(pipeline, on: frame).samples
    let plan = try FilterCatalogue.builtIn.resolve(pipeline).plan(for: geometry)
    for bands in [1, 3, 16] {
      let executor = PlanExecutor(
        pool: BufferPool(), compute: ComputePool(threadCount: 2),
        fixedBands: BandRunner(maxBands: bands, minBandNanoseconds: 0))
      let (slab, copy) = PaddedBuffer.holding(frame)
      let result = try await executor.run(
        plan, on: copy, into: MutableFrame(layout: copy.layout, buffer: slab.buffer))
      #expect(result.samples == expected)
      #expect(slab.touchedBytes(outside: [copy.layout]) == 0)
    }
  }

  /// A frame of a scene.
  static func frame(
    _ scene: MatteScene, _ format: PixelFormat = .rgba8, _ size: FrameSize = Self.size
  ) throws -> Frame {
    let samples = scene.samples(size)
    return try TestFrame.make(
      FrameGeometry(format: format, size: size, color: ColorDescription(alpha: .straight)),
      padding: .aligned
    ) { _, x, y, channel in
      channel == 3 ? 255 : samples[3 * (y * size.width + x) + channel]
    }
  }

  /// The alpha of a keyed scene.
  static func alpha(
    _ scene: MatteScene, _ parameters: [String: ParameterValue] = [:]
  ) async throws -> [Double] {
    let result = try await TestBench().run(
      [.filter("chromaKey", parameters)], on: try Self.frame(scene))
    let samples = result.samples[0]
    return (0 ..< Self.size.pixelCount).map { Double(samples[4 * $0 + 3]) / 255 }
  }

  static let lights: [MatteScene.Light] = [
    .init(), .init(unevenness: 0.5), .init(noise: 8), .init(shadow: 0.5),
    .init(shadow: 0.45, noise: 8, spill: 0.2, unevenness: 0.35),
  ]

  @Test(arguments: Self.lights.indices)
  func `finds the person before a wall in uneven light, noise and shadow`(_ light: Int) async throws
  {
    let scene = MatteScene(background: .wall(MatteScene.green), light: Self.lights[light])
    let found = try await Self.alpha(scene)
    #expect(MatteScene.overlap(scene.truth(Self.size), found) >= 0.99)
  }

  @Test func `a key of another colour or without width does not find the person`() async throws {
    let scene = MatteScene(
      background: .wall(MatteScene.green), light: .init(shadow: 0.5, unevenness: 0.5))
    let truth = scene.truth(Self.size)
    let blue = try await Self.alpha(
      scene, ["color": .color(RGBAColor(red: 0.1, green: 0.2, blue: 0.9))])
    #expect(MatteScene.overlap(truth, blue) < 0.6)
    let narrow = try await Self.alpha(scene, ["near": .number(0), "far": .number(0.001)])
    #expect(MatteScene.overlap(truth, narrow) < 0.6)
  }

  @Test func `spill is limited to the greater of the other channels`() async throws {
    let geometry = FrameGeometry(
      format: .rgba8, size: FrameSize(width: 16, height: 16),
      color: ColorDescription(alpha: .opaque))
    // A yellow that is a little green, far from the key.
    let frame = try TestFrame.make(geometry, padding: .aligned) { _, _, _, channel in
      [180, 200, 60, 255][channel]
    }
    for (spill, green) in [(0.0, UInt8(200)), (0.5, 190), (1, 180)] {
      let result = try await TestBench().run(
        [.filter("chromaKey", ["spill": .number(spill)])], on: frame)
      #expect(Array(result.samples[0].prefix(4)) == [180, green, 60, 255])
    }
  }

  @Test(arguments: PixelFormat.allCases)
  func `grey frames and frames without the key stay as they are`(_ format: PixelFormat) async throws
  {
    for color in FormatSweep.colors(format) {
      let geometry = FrameGeometry(
        format: format, size: FrameSize(width: 77, height: 51), color: color)
      let frame = try TestFrame.make(geometry, padding: .ragged) { plane, x, y, channel in
        plane == 0 ? channel == 3 ? 255 : UInt8(40 + (x * 3 + y) % 150) : 128
      }
      let result = try await TestBench().run([.filter("chromaKey")], on: frame)
      #expect(result.worstDifference(from: frame.samples) <= 1, "\(color)")
    }
  }

  @Test func `a wall without a person becomes the background`() async throws {
    let geometry = FrameGeometry(
      format: .rgba8, size: FrameSize(width: 40, height: 30),
      color: ColorDescription(alpha: .straight))
    let wall = try TestFrame.make(geometry, padding: .aligned) { _, _, _, channel in
      [0, 176, 64, 255][channel]
    }
    let clear = try await TestBench().run([.filter("chromaKey")], on: wall)
    #expect(clear.samples[0].indices.allSatisfy { $0 % 4 != 3 || clear.samples[0][$0] == 0 })
    let red = RGBAColor(red: 1, green: 0, blue: 0)
    let color = try await TestBench().run(
      [.filter("chromaKey", ["backgroundColor": .color(red)])], on: wall)
    #expect(Array(color.samples[0].prefix(4)) == [255, 0, 0, 255])
  }

  /// A picture of 160x90 whose left half is a wall of the key colour, and whose right half is
  /// orange. `left` and `right` give the colours by plane and channel.
  private static func halves(
    _ format: PixelFormat, _ color: ColorDescription, left: [[UInt8]], right: [[UInt8]]
  ) throws -> Frame {
    let geometry = FrameGeometry(
      format: format, size: FrameSize(width: 160, height: 90), color: color)
    return try TestFrame.make(geometry, padding: .ragged) { plane, x, _, channel in
      let middle = format.isYUV && plane > 0 ? 40 : 80
      return (x < middle ? left : right)[plane][channel]
    }
  }

  @Test(arguments: [PixelFormat.rgba8, .bgra8], [AlphaMode.straight, .premultiplied])
  func `the key colour becomes transparent where the frame has alpha`(
    _ format: PixelFormat, _ alpha: AlphaMode
  ) async throws {
    let order = format == .bgra8 ? [2, 1, 0, 3] : [0, 1, 2, 3]
    let wall: [UInt8] = order.map { [0, 176, 64, 255][$0] }
    let orange: [UInt8] = order.map { [200, 120, 90, 255][$0] }
    let frame = try Self.halves(
      format, ColorDescription(alpha: alpha), left: [wall], right: [orange])
    let result = try await TestBench().run([.filter("chromaKey")], on: frame)
    #expect(result.geometry == frame.geometry)
    let row = result.samples[0][..<(4 * 160)]
    let (left, right) = (Array(row[40 ..< 44]), Array(row[600 ..< 604]))
    #expect(left[3] == 0)
    if alpha == .premultiplied { #expect(left == [0, 0, 0, 0]) }
    #expect(right == orange)
  }

  @Test(arguments: [PixelFormat.rgba8, .rgb24, .i420])
  func `the key colour becomes black where there is no alpha`(_ format: PixelFormat) async throws {
    let (wall, orange, black): ([[UInt8]], [[UInt8]], [[UInt8]]) =
      switch format {
      case .i420: ([[111], [105], [59]], [[137], [103], [165]], [[16], [128], [128]])
      case .rgb24: ([[0, 176, 64]], [[200, 120, 90]], [[0, 0, 0]])
      default: ([[0, 176, 64, 255]], [[200, 120, 90, 255]], [[0, 0, 0, 255]])
      }
    let frame = try Self.halves(
      format, ColorDescription(alpha: .opaque), left: wall, right: orange)
    let result = try await TestBench().run([.filter("chromaKey")], on: frame)
    for (plane, samples) in result.samples.enumerated() {
      let count = black[plane].count
      let width = format.isYUV && plane > 0 ? 80 : 160
      #expect(Array(samples[(10 * count)...].prefix(count)) == black[plane])
      #expect(Array(samples[((width - 10) * count)...].prefix(count)) == orange[plane])
    }
  }

  @Test func `in linear light the key is the same`() async throws {
    let scene = MatteScene(background: .wall(MatteScene.green))
    let size = FrameSize(width: 160, height: 90)
    let frame = try Self.frame(scene, .rgba8, size)
    let plain: Pipeline = [.filter("chromaKey")]
    var linear = plain
    linear.workingSpace = .sRGBLinear
    let result = try await TestBench().run(linear, on: frame)
    let expected = try await TestBench().run(plain, on: frame)
    #expect(result.worstDifference(from: expected.samples) <= 4)
  }
}
