import SidelightKernels
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Filters that move pixels, and filters that change the size of frames.
@Suite struct `Geometry filters` {
  static func affine(_ vector: [Double], _ border: String = "transparent") -> Stage {
    .filter("affineTransform", ["transform": .vector(vector), "border": .text(border)])
  }

  static func crop(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> Stage {
    .filter(
      "crop",
      ["origin": .vector([x, y]), "width": .number(width), "height": .number(height)])
  }

  static func scale(_ width: Double, _ height: Double, _ mode: String) -> Stage {
    .filter(
      "scale", ["width": .number(width), "height": .number(height), "mode": .text(mode)])
  }

  static func orient(_ turns: Double, _ mirrored: Bool = false) -> Stage {
    .filter("orient", ["quarterTurns": .number(turns), "mirrored": .flag(mirrored)])
  }

  static let pipelines: [Pipeline] = [
    [Self.crop(3, 2, 20, 11)],
    [Self.crop(4, 2, 1000, 3)],
    [Self.orient(1)], [Self.orient(2)], [Self.orient(3, true)], [Self.orient(0, true)],
    [Self.scale(40, 0, "fit")], [Self.scale(17, 23, "fill")], [Self.scale(90, 7, "stretch")],
    [Self.scale(200, 150, "stretch")], [Self.scale(1, 1, "stretch")],
    [.filter("scale", ["width": .length(Length(0.37, .width))])],
    [Self.affine([0.9, 0.2, -0.3, 1.1, 4, -3])],
    [Self.affine([0.9, 0.2, -0.3, 1.1, 4, -3], "clamp")],
    [Self.affine([0.3, 0.1, 0, 0.4, 5.5, 2])],
    [Self.affine([0, 0, 0, 0, 0, 0])], [Self.affine([0, 0, 0, 0, 0, 0], "clamp")],
    [Self.scale(50, 40, "fill"), .filter("gaussianBlur", ["radius": .number(1)]), Self.orient(1)],
    [Self.crop(1, 1, 30, 30), .filter("vignette", ["intensity": .number(1)]), Self.orient(1)],
  ]

  @Test(arguments: Self.pipelines, PixelFormat.allCases)
  func `results are within a level of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await FormatSweep.compare(pipeline, format)
  }

  static func geometry(_ format: PixelFormat, _ width: Int, _ height: Int) -> FrameGeometry {
    FrameGeometry(format: format, size: FrameSize(width: width, height: height))
  }

  @Test(arguments: [
    (Self.crop(10, 5, 20, 12), 20, 12), (Self.crop(90, 50, 20, 12), 10, 10),
    (Self.crop(500, 500, 20, 12), 1, 1), (Self.crop(-5, 0, 20, 60), 15, 60),
    (Self.orient(1), 60, 100), (Self.orient(-1), 60, 100), (Self.orient(2), 100, 60),
    (Self.scale(50, 0, "fit"), 50, 30), (Self.scale(0, 120, "fit"), 200, 120),
    (Self.scale(50, 50, "fit"), 50, 30), (Self.scale(50, 50, "fill"), 50, 50),
    (Self.scale(50, 50, "stretch"), 50, 50), (Self.affine([2, 0, 0, 2, 0, 0]), 100, 60),
  ])
  func `the plan and the frame have the requested size`(
    _ stage: Stage, _ width: Int, _ height: Int
  ) async throws {
    let frame = try TestFrame.make(Self.geometry(.nv12, 100, 60))
    let bench = TestBench()
    let plan = try bench.catalogue.resolve([stage, .filter("sepiaTone")]).plan(for: frame.geometry)
    #expect(plan.output == Self.geometry(.nv12, width, height))
    #expect(try await bench.executor.run(plan, on: frame).geometry == plan.output)
  }

  @Test(arguments: PixelFormat.allCases)
  func `a crop at even positions copies samples`(_ format: PixelFormat) async throws {
    let frame = try TestFrame.make(Self.geometry(format, 61, 43), padding: .ragged) {
      plane, x, y, channel in UInt8((x * 7 + y * 13 + plane * 50 + channel * 31) % 256)
    }
    let result = try await TestBench().run([Self.crop(8, 6, 31, 20)], on: frame)
    let outputs = PlaneShape.planes(format, result.size)
    for (input, output) in zip(PlaneShape.planes(format, frame.size), outputs) {
      let (x0, y0) = (Int(8 * input.scale), Int(6 * input.scale))
      for y in 0 ..< output.height {
        for x in 0 ..< output.samples {
          #expect(
            result.samples[output.plane][y * output.samples + x]
              == frame.samples[input.plane][(y + y0) * input.samples + x + x0 * input.step])
        }
      }
    }
  }

  @Test(arguments: PixelFormat.allCases)
  func `four quarter turns and two reflections restore the frame`(_ format: PixelFormat)
    async throws
  {
    var geometry = Self.geometry(format, 45, 29)
    geometry.color.alpha = .opaque
    let frame = try TestFrame.make(geometry, seed: 8)
    let bench = TestBench()
    for stages: Pipeline in [
      [Self.orient(1), Self.orient(1), Self.orient(1), Self.orient(1)],
      [Self.orient(0, true), Self.orient(0, true)],
      [Self.orient(1, true), Self.orient(1, true)],
      [Self.orient(3), Self.orient(-3)],
    ] {
      #expect(try await bench.run(stages, on: frame).samples == frame.samples)
    }
  }

  @Test func `a clockwise quarter turn brings the left top corner to the right top`() async throws {
    let frame = try TestFrame.make(Self.geometry(.gray8, 3, 2), padding: .packed) { _, x, y, _ in
      UInt8(10 * x + 100 * y)
    }
    let bench = TestBench()
    let turned = try await bench.run([Self.orient(1)], on: frame)
    #expect(turned.samples[0] == [100, 0, 110, 10, 120, 20])
    let mirrored = try await bench.run([Self.orient(1, true)], on: frame)
    #expect(mirrored.samples[0] == [120, 20, 110, 10, 100, 0])
  }

  @Test(arguments: PixelFormat.allCases, [UInt8(0), 1, 128, 255])
  func `a flat frame stays flat at every size`(_ format: PixelFormat, _ value: UInt8) async throws {
    let frame = try TestFrame.flat(
      FrameGeometry(
        format: format, size: FrameSize(width: 53, height: 31),
        color: ColorDescription(alpha: .opaque)), value)
    let bench = TestBench()
    for stage in [
      Self.scale(7, 5, "stretch"), Self.scale(200, 31, "stretch"), Self.scale(52, 97, "fill"),
      Self.affine([0.7, 0.7, -0.7, 0.7, 3, 2], "clamp"),
    ] {
      let result = try await bench.run([stage], on: frame)
      #expect(result.samples.allSatisfy { $0.allSatisfy { $0 == value } })
    }
  }

  @Test func `one pixel is the mean of the picture`() async throws {
    let frame = try TestFrame.make(Self.geometry(.gray8, 47, 33), seed: 3)
    let mean =
      frame.samples[0].reduce(0) { $0 + Double($1) } / Double(frame.samples[0].count)
    let result = try await TestBench().run([Self.scale(1, 1, "stretch")], on: frame)
    #expect(abs(Double(result.samples[0][0]) - mean) <= 0.51)
  }

  @Test func `doubling interpolates neighbours by a quarter and three quarters`() async throws {
    let frame = try TestFrame.make(Self.geometry(.gray8, 3, 1), padding: .packed) { _, x, _, _ in
      UInt8(100 * x)
    }
    let result = try await TestBench().run([Self.scale(6, 1, "stretch")], on: frame)
    #expect(result.samples[0] == [0, 25, 75, 125, 175, 200])
  }

  @Test func `a translation by whole pixels copies them and fills with black`() async throws {
    let frame = try TestFrame.make(
      FrameGeometry(
        format: .i420, size: FrameSize(width: 24, height: 16),
        color: ColorDescription(range: .video)), padding: .packed
    ) { plane, x, y, _ in UInt8(40 + x * 5 + y * 3 + plane * 20) }
    let result = try await TestBench().run([Self.affine([1, 0, 0, 1, 4, 2])], on: frame)
    #expect(result.samples[0][0] == 16 && result.samples[1][0] == 128)
    #expect(result.samples[0][2 * 24 + 4] == frame.samples[0][0])
    #expect(result.samples[0][15 * 24 + 23] == frame.samples[0][13 * 24 + 19])
    #expect(result.samples[1][12 + 2] == frame.samples[1][0])
  }

  @Test func `pixels from outside are transparent where there is alpha`() async throws {
    let frame = try TestFrame.flat(
      FrameGeometry(
        format: .rgba8, size: FrameSize(width: 8, height: 8),
        color: ColorDescription(alpha: .straight)), 255)
    let result = try await TestBench().run([Self.affine([1, 0, 0, 1, 4, 0])], on: frame)
    #expect(Array(result.samples[0][0 ..< 4]) == [0, 0, 0, 0])
    #expect(Array(result.samples[0][28 ..< 32]) == [255, 255, 255, 255])
  }

  @Test func `an affine quarter turn equals orient`() async throws {
    let frame = try TestFrame.make(Self.geometry(.gray8, 40, 40), seed: 6)
    let bench = TestBench()
    // (x, y) goes to (40 - y, x).
    let map = try await bench.run([Self.affine([0, 1, -1, 0, 40, 0])], on: frame)
    let turn = try await bench.run([Self.orient(1)], on: frame)
    #expect(map.samples == turn.samples)
  }

  @Test(arguments: [
    Self.orient(0), Self.orient(4), Self.scale(0, 0, "fit"), Self.scale(40, 30, "stretch"),
    Self.affine([1, 0, 0, 1, 0, 0]), .filter("crop"), Self.crop(0, 0, 400, 300),
  ])
  func `neutral settings compile to no pass`(_ stage: Stage) async throws {
    let frame = try TestFrame.make(Self.geometry(.bgra8, 40, 30))
    #expect(try await TestBench().run([stage], on: frame).buffer === frame.buffer)
  }

  @Test(arguments: PixelFormat.allCases)
  func `bands do not change the result`(_ format: PixelFormat) async throws {
    var geometry = Self.geometry(format, 901, 703)
    geometry.color.alpha = .opaque
    let frame = try TestFrame.make(geometry)
    let pipeline: Pipeline = [
      Self.scale(611, 0, "fit"), Self.affine([0.9, 0.2, -0.3, 1.1, 4, -3]), Self.orient(1),
      Self.crop(7, 9, 400, 500),
    ]
    let whole = try await TestBench(threads: 1).run(pipeline, on: frame)
    let banded = try await TestBench(threads: 5).run(pipeline, on: frame)
    #expect(whole.samples == banded.samples && whole.size == banded.size)
  }

  @Test(arguments: 0 ..< 60)
  func `a random chain of geometry and colour equals the reference`(_ seed: Int)
    async throws
  {
    var random = TestRandom(seed: UInt64(seed) &* 31337 &+ 11)
    func number(_ range: ClosedRange<Double>) -> Double {
      Double.random(in: range, using: &random)
    }
    let stages = (0 ..< Int.random(in: 1 ... 4, using: &random)).map { _ -> Stage in
      switch Int.random(in: 0 ..< 6, using: &random) {
      case 0: Self.crop(number(-5 ... 20), number(-5 ... 20), number(5 ... 60), number(5 ... 60))
      case 1: Self.orient(number(0 ... 4).rounded(), Bool.random(using: &random))
      case 2:
        Self.scale(
          number(3 ... 80), number(3 ... 80),
          ["fit", "fill", "stretch"].randomElement(using: &random) ?? "fit")
      case 3: .filter("vignette", ["intensity": .number(number(0 ... 1))])
      case 4: .filter("gaussianBlur", ["radius": .number(number(0 ... 3))])
      default: .filter("sepiaTone", ["intensity": .number(number(0 ... 1))])
      }
    }
    let geometry = FrameGeometry(
      format: PixelFormat.allCases[seed % 6],
      size: FrameSize(
        width: Int.random(in: 1 ... 70, using: &random),
        height: Int.random(in: 1 ... 50, using: &random)),
      color: ColorDescription(alpha: AlphaMode.allCases[seed / 6 % 3]))
    let frame = try TestFrame.make(geometry, seed: UInt64(seed))
    let bench = TestBench(threads: 1 + seed % 4)
    let pipeline = Pipeline(stages: stages)
    let result = try await bench.run(pipeline, on: frame)
    let expected = try bench.reference(pipeline, on: frame)
    #expect(result.worstDifference(from: expected) <= 1.5, "\(geometry) \(pipeline)")
  }
}
