import SidelightKernelLanguage
import SidelightKernels
import Testing

/// Kernels that read the picture at computed positions, and further images.
@Suite struct `Pictures that kernels read` {
  static let size = FrameSize(width: 37, height: 23)

  static func frame(
    _ format: PixelFormat, _ alpha: AlphaMode = .opaque, size: FrameSize = Self.size
  ) throws -> Frame {
    try TestFrame.make(
      FrameGeometry(format: format, size: size, color: ColorDescription(alpha: alpha)))
  }

  static func kernel(_ source: String, _ values: [String: ParameterValue] = [:]) -> Stage {
    `Kernels as filters`.kernel(source, values)
  }

  static let warps = [
    "warp position + vec2(3.5 * sin(position.y / 5), 2 * cos(position.x / 4))",
    "let d = position - size / 2 warp size / 2 + rotate(d, 0.4 * (1 - length(uv - 0.5))) * 1.2",
    "warp mirror(position * 1.7 - 9, size)",
    "sample(4 * uv.x, -2)",
    "let p = mod(position * 2, size) let c = sampleAt(p) vec4(c.rgb, c.a * inside(p * 1.3 - 9))",
    "(sample(1, 0) + sampleAt(position.yx) + color) / 3",
    "var sum = vec4(0) for i in 0..<5 { sum += sample(i * uv.x, i - 2) } sum / 5",
    "param d: 2.5 in 0..16 return vec3(sample(d, 0).r, color.g, sample(-d, 0).b)",
  ]

  @Test(arguments: Self.warps)
  func `a kernel at computed positions matches its definition`(_ source: String) async throws {
    let bench = TestBench()
    let frames = [
      try Self.frame(.bgra8), try Self.frame(.rgba8, .straight),
      try Self.frame(.rgba8, .premultiplied),
      try Self.frame(.rgb24), try Self.frame(.gray8), try Self.frame(.i420), try Self.frame(.nv12),
    ]
    for frame in frames {
      let result = try await bench.run([Self.kernel(source)], on: frame)
      let expected = try bench.reference([Self.kernel(source)], on: frame)
      #expect(result.samples != frame.samples)
      #expect(result.worstDifference(from: expected) <= 2, "\(frame.geometry)")
    }
  }

  @Test(arguments: [1, 2, 3, 8, 300])
  func `a warp to the own position changes nothing, at all sizes`(_ side: Int) async throws {
    let bench = TestBench()
    for size in [FrameSize(width: side, height: 5), FrameSize(width: 4, height: side)] {
      for (format, alpha) in [(PixelFormat.bgra8, AlphaMode.premultiplied), (.rgb24, .opaque)] {
        let frame = try Self.frame(format, alpha, size: size)
        let result = try await bench.run([Self.kernel("warp position")], on: frame)
        #expect(result.samples == frame.samples, "\(format) \(size)")
      }
    }
  }

  /// Positions beyond the edges, and the same pixels by whole distances within the picture.
  static let edges: [(String, @Sendable (Int, Int) -> (Int, Int)?)] = [
    ("warp position + vec2(30, -20)", { (min($0 + 30, 36), max($1 - 20, 0)) }),
    ("warp mod(position + vec2(30, -20), size)", { (($0 + 30) % 37, ($1 + 3) % 23) }),
    (
      "warp mirror(position + vec2(30, 0), size)",
      { x, y in x + 30 < 37 ? (x + 30, y) : (73 - x - 30, y) }
    ),
    (
      "let p = position + vec2(30, 0) vec4(sampleAt(p).rgb, inside(p))",
      { x, y in x + 30 < 37 ? (x + 30, y) : nil }
    ),
    ("warp vec2(0 / (position.x - position.x), 1e30)", { _, _ in (0, 22) }),
  ]

  @Test(arguments: 0 ..< 5)
  func `edges repeat, wrap around, mirror or end`(_ index: Int) async throws {
    let (source, position) = Self.edges[index]
    let frame = try Self.frame(.rgb24)
    let samples = frame.samples[0]
    let result = try await TestBench().run([Self.kernel(source)], on: frame).samples[0]
    for y in 0 ..< Self.size.height {
      for x in 0 ..< Self.size.width {
        let target = 3 * (y * Self.size.width + x)
        let pixel = position(x, y).map { 3 * ($0.1 * Self.size.width + $0.0) }
        let expected = pixel.map { Array(samples[$0 ..< $0 + 3]) } ?? [0, 0, 0]
        // At the seam of a repeated picture, rounding may select the other side.
        #expect(Array(result[target ..< target + 3]) == expected, "\(source) at \(x), \(y)")
      }
    }
  }

  @Test func `every instruction set reads the same bits`() async throws {
    for (format, size) in [
      (PixelFormat.bgra8, FrameSize(width: 333, height: 40)),
      (.i420, FrameSize(width: 260, height: 31)), (.rgba8, FrameSize(width: 1, height: 40)),
      (.rgba8, FrameSize(width: 50, height: 1)),
    ] {
      let frame = try Self.frame(format, format == .rgba8 ? .straight : .opaque, size: size)
      let stage = Self.kernel(
        "sampleAt(position * 0.73 + 5 * hash(position)) * 0.7 + noise(uv * 9)")
      let plan = try FilterCatalogue.builtIn.resolve([stage]).plan(for: frame.geometry)
      var results: [[[UInt8]]] = []
      for machine in InstructionSet.available {
        let executor = PlanExecutor(
          pool: BufferPool(), compute: ComputePool(threadCount: 1, instructionSet: machine))
        results.append(try await executor.run(plan, on: frame).samples)
      }
      for result in results.dropFirst() { #expect(result == results[0], "\(format) \(size)") }
    }
  }

  /// An image of 2x2 pixels: red, green, blue, and white of half the alpha.
  private static func image() throws -> ImageAsset {
    let geometry = FrameGeometry(
      format: .rgba8, size: FrameSize(width: 2, height: 2),
      color: ColorDescription(alpha: .straight))
    var frame = try BufferPool().makeFrame(geometry)
    let pixels: [[UInt8]] = [
      [255, 0, 0, 255, 0, 255, 0, 255], [0, 0, 255, 255, 255, 255, 255, 128],
    ]
    for y in 0 ..< 2 {
      frame.withMutableRow(y, plane: 0) { row in
        for (offset, byte) in pixels[y].enumerated() {
          row.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
        }
      }
    }
    return try ImageAsset(frame.finish())
  }

  @Test func `an image is stretched over the frame, and straight`() async throws {
    var bench = TestBench()
    bench.catalogue.assets = AssetStore(["squares.png": .image(try Self.image())])
    let frame = try Self.frame(.rgba8, .straight, size: FrameSize(width: 2, height: 2))
    let call: [String: ParameterValue] = ["back": .text("squares.png")]
    for source in ["back", "sampleAt(back, position)", "sample(back, 0, 0)"] {
      let result = try await bench.run([Self.kernel("image back \(source)", call)], on: frame)
      let pixels = result.samples[0].map(Int.init)
      let expected = [255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 255, 128]
      #expect(zip(pixels, expected).allSatisfy { abs($0 - $1) <= 1 }, "\(source): \(pixels)")
    }
    // Across the image, by brightness.
    let wide = try Self.frame(.bgra8)
    for source in [
      "sampleAt(back, luma(color) * size.x, 2)", "mix(color.rgb, back.rgb, back.a * 0.5)",
      "sample(back.r * 3, 0).rgb * back.rgb",
    ] {
      let pipeline: Pipeline = [Self.kernel("image back as back \(source)", call)]
      let result = try await bench.run(pipeline, on: wide)
      #expect(result.worstDifference(from: try bench.reference(pipeline, on: wide)) <= 2)
    }
  }

  @Test func `an image may be the source frame, unless it is read elsewhere`() async throws {
    let bench = TestBench()
    let frame = try Self.frame(.bgra8)
    let source: [String: ParameterValue] = ["first": .text("source")]
    let pipeline: Pipeline = [
      .filter("colorInvert"), Self.kernel("image first vec4(first.rgb, 1)", source),
    ]
    #expect(try await bench.run(pipeline, on: frame).samples == frame.samples)
    let error = try #require(throws: PipelineError.self) {
      try bench.catalogue.resolve([Self.kernel("image first sample(first, 1, 0)", source)])
    }
    #expect(error.code == .unknownAsset)
    let missing = try #require(throws: PipelineError.self) {
      try bench.catalogue.resolve([Self.kernel("image first first")])
    }
    #expect(missing.path.contains("first") || missing.message.contains("first"))
  }

  @Test func `the plan states how far a kernel reads`() throws {
    func summary(_ source: String) throws -> String {
      try FilterCatalogue.builtIn.resolve([Self.kernel(source)])
        .plan(for: Self.frame(.bgra8).geometry).passes[0].summary
    }
    #expect(try summary("warp position.yx").contains("over the frame"))
    #expect(try summary("sample(5 * sin(time * position.x), 0)").contains("over 11x11 pixels"))
    #expect(try summary("warp position + clamp(color.r, -7, 7)").contains("over 15x15 pixels"))
    #expect(try summary("sample(2, 1)").contains("over 5x5 pixels"))
    #expect(try KernelText("warp position").reach == .neighborhood)
    #expect(try KernelText("image back sampleAt(back, uv)").reach == .pixel)
  }

  @Test func `kernels of one pixel are functions of bytes, and curves are tables`() async throws {
    let bench = TestBench()
    for source in [
      "color.rgb * color.bgr", "pow(color.rgb, vec3(0.5, 1, 2))", "1 - color.rgb * color.rgb",
    ] {
      for (format, alpha) in [(PixelFormat.bgra8, AlphaMode.opaque), (.rgba8, .straight)] {
        let frame = try Self.frame(format, alpha, size: FrameSize(width: 1100, height: 3))
        let pipeline: Pipeline = [Self.kernel(source)]
        let plan = try bench.catalogue.resolve(pipeline).plan(for: frame.geometry)
        #expect(!plan.passes[0].summary.contains("in strips"), "\(plan)")
        let result = try await bench.run(pipeline, on: frame)
        #expect(result.worstDifference(from: try bench.reference(pipeline, on: frame)) <= 1)
      }
    }
  }
}
