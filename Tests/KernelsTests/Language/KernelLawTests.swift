import SidelightKernelLanguage
import SidelightKernels
import Testing

/// Results of kernels, compared with existing filters.
@Suite struct `Kernels as filters` {
  static let size = FrameSize(width: 21, height: 13)

  static func frame(
    _ format: PixelFormat = .bgra8, _ alpha: AlphaMode = .opaque
  ) throws -> Frame {
    try TestFrame.make(
      FrameGeometry(format: format, size: Self.size, color: ColorDescription(alpha: alpha)))
  }

  static func kernel(_ source: String, _ values: [String: ParameterValue] = [:]) -> Stage {
    .filter("kernel", ["source": .text(source)].merging(values) { $1 })
  }

  @Test(arguments: ["color", "return vec4(color.rgb, color.a)", "mix(color, color.bgra, 0)"])
  func `a kernel that returns the colour has no pass`(_ source: String) throws {
    for format in PixelFormat.allCases {
      let plan = try FilterCatalogue.builtIn.resolve([Self.kernel(source)])
        .plan(for: Self.frame(format).geometry)
      #expect(plan.isIdentity, "\(format): \(plan)")
    }
  }

  @Test func `affine kernels fold with their neighbours`() throws {
    let pipeline: Pipeline = [
      .filter("sepiaTone"), Self.kernel("mix(color.rgb, vec3(luma(color)), 0.5) * 1.1 - 0.05"),
      .filter("hueAdjust", ["angle": .number(1)]),
    ]
    for format in [PixelFormat.bgra8, .i420] {
      let plan = try FilterCatalogue.builtIn.resolve(pipeline).plan(
        for: Self.frame(format).geometry)
      #expect(plan.passes.count == 1)
      #expect(plan.passes[0].summary.contains("folded: one colour matrix"), "\(plan)")
    }
  }

  @Test func `other kernels of one pixel join the strips of their neighbours`() throws {
    let pipeline: Pipeline = [
      .filter("vibrance"), Self.kernel("color.rgb * color.rgb"), .filter("glow"),
    ]
    let plan = try FilterCatalogue.builtIn.resolve(pipeline).plan(for: Self.frame().geometry)
    #expect(plan.passes.count == 1, "\(plan)")
  }

  /// Kernels and the filters that they equal.
  static let equals: [(Stage, Stage)] = [
    (
      Self.kernel("mix(vec3(luma(color)), color.rgb, 1.6)"),
      .filter("colorControls", ["saturation": .number(1.6)])
    ),
    (Self.kernel("1 - color.rgb"), .filter("colorInvert")),
    (Self.kernel("luma(color)"), .filter("grayscale")),
    (
      Self.kernel(
        """
        param intensity: 0.6 in 0..1
        let g = smoothstep(0.5, 1, luma(color)) * intensity
        return mix(color.rgb, vec3(1, 0.95, 0.8), g)
        """),
      .filter("glow")
    ),
    (
      Self.kernel("pow(color.rgb, 2.2)"),
      .filter("gammaAdjust", ["power": .number(2.2)])
    ),
    (
      Self.kernel("floor(saturate(color.rgb) * 5 + 0.5001) / 5"),
      .filter("posterize", ["levels": .number(6)])
    ),
    (
      Self.kernel(
        """
        let b = sample(-1, -1) + sample(0, -1) + sample(1, -1) + sample(-1, 0) + sample(0, 0)
        return (b + sample(1, 0) + sample(-1, 1) + sample(0, 1) + sample(1, 1)).rgb / 9
        """),
      .filter("convolution3X3", ["weights": .vector(Array(repeating: 1.0 / 9, count: 9))])
    ),
  ]

  @Test(arguments: Self.equals)
  func `a kernel gives the levels of the filter with its formula`(
    _ kernel: Stage, _ filter: Stage
  ) async throws {
    let bench = TestBench()
    for format in [PixelFormat.bgra8, .rgb24] {
      let frame = try Self.frame(format)
      let result = try await bench.run([kernel], on: frame)
      let expected = try await bench.run([filter], on: frame)
      #expect(result.samples != frame.samples)
      for (left, right) in zip(result.samples.joined(), expected.samples.joined()) {
        #expect(abs(Int(left) - Int(right)) <= 1)
      }
    }
  }

  @Test func `parameters are checked like those of filters, and can be updated`() async throws {
    let source = "param gain: 0.5 in 0..1 color.rgb * gain"
    let catalogue = FilterCatalogue.builtIn
    func error(_ values: [String: ParameterValue]) throws -> PipelineError {
      try #require(throws: PipelineError.self) {
        try catalogue.resolve([Self.kernel(source, values)])
      }
    }
    let unknown = try error(["gian": .number(1)])
    #expect(unknown.code == .unknownParameter)
    #expect(unknown.suggestion == "gain")
    let high = try error(["gain": .number(2)])
    #expect(high.code == .outOfLimits)
    #expect(high.limit == "0.0 ... 1.0")
    #expect(try error(["gain": .flag(true)]).code == .wrongType)

    var pipeline: Pipeline = [Self.kernel(source)]
    let bench = TestBench()
    let frame = try Self.frame(.gray8)
    let half = try await bench.run(pipeline, on: frame)
    try pipeline.setParameters(["gain": .number(1)], stage: "stages[0]")
    let full = try await bench.run(pipeline, on: frame)
    #expect(full.samples == frame.samples)
    #expect(half.samples != frame.samples)
  }

  @Test func `an invalid text is refused with its position`() throws {
    let error = try #require(throws: PipelineError.self) {
      try FilterCatalogue.builtIn.resolve([Self.kernel("color.rgb *\n lumma(color)")])
    }
    #expect(error.code == .invalidKernel)
    #expect(error.path == "stages[0].filter.parameters[\"source\"]")
    #expect(error.suggestion == "luma")
    #expect(error.position?.line == 2)
    #expect(error.position?.column == 2)
  }

  @Test func `an asset is a kernel by name, with its parameters`() async throws {
    let text = "kernel gain param gain: 0.5 in 0..1 return color.rgb * gain"
    var bench = TestBench()
    bench.catalogue.assets = AssetStore([
      "gain.kernel": .kernel(try KernelAsset(Array(text.utf8)))
    ])
    let frame = try Self.frame(.gray8)
    let call: [String: ParameterValue] = ["asset": .text("gain.kernel"), "gain": .number(1)]
    #expect(try await bench.run([.filter("kernel", call)], on: frame).samples == frame.samples)
    func code(_ call: [String: ParameterValue]) -> PipelineError.Code? {
      do throws(PipelineError) {
        _ = try bench.catalogue.resolve([.filter("kernel", call)])
        return nil
      } catch {
        return error.code
      }
    }
    #expect(code(["asset": .text("gain.kernle")]) == .unknownAsset)
    #expect(code(["asset": .text("gain.kernel"), "gain": .number(2)]) == .outOfLimits)
    #expect(code(["asset": .text("gain.kernel"), "source": .text("an error")]) == nil)
  }

  @Test func `a kernel needs the permission of the filter`() throws {
    struct Permissions: FilterPermissionProvider {
      let permissions: FilterPermissions?
    }
    var catalogue = FilterCatalogue.builtIn
    catalogue.permissions = Permissions(
      permissions: FilterPermissions(grants: [
        .init(origin: "test", filters: try FilterNameList(["sepiaTone"]))
      ]))
    let error = try #require(throws: PipelineError.self) {
      try catalogue.resolve([Self.kernel("1 - color")])
    }
    #expect(error.code == .notPermitted)
  }

  @Test(arguments: [
    ("color.rgb / 0", 255), ("(color.rgb - color.rgb * 1.0001) / 0", 0), ("0 * (color.r / 0)", 0),
    ("log(color.rgb - 5) * 0 + 1", 255), ("sqrt(-color.rgb - 1)", 0),
    ("1 / (color.r - color.r) < 0 ? 0 : 1", 255), ("exp(color.rgb * 1000)", 255),
  ])
  func `division by zero, infinity and NaN have defined results`(
    _ source: String, _ level: Int
  ) async throws {
    let frame = try TestFrame.flat(
      FrameGeometry(format: .rgb24, size: FrameSize(width: 5, height: 2)), 100)
    let result = try await TestBench().run([Self.kernel(source)], on: frame)
    #expect(result.samples.joined().allSatisfy { $0 == UInt8(level) }, "\(result.samples)")
  }

  @Test func `positions are those of pixel centres, in every strip and band`() async throws {
    let size = FrameSize(width: 600, height: 40)
    let frame = try TestFrame.flat(FrameGeometry(format: .rgb24, size: size), 0)
    let source = "vec3(mod(floor(position.x), 256), mod(position.y, 256) - 0.5, size.y) / 255"
    let samples = try await TestBench().run([Self.kernel(source)], on: frame).samples[0]
    for y in 0 ..< size.height {
      for x in 0 ..< size.width {
        let pixel = samples[3 * (y * size.width + x) ..< 3 * (y * size.width + x) + 3]
        #expect(Array(pixel) == [UInt8(x % 256), UInt8(y), 40])
      }
    }
  }

  @Test func `the time and the number of the frame are single numbers`() async throws {
    let frame = try TestFrame.flat(
      FrameGeometry(format: .gray8, size: FrameSize(width: 3, height: 2)), 0)
    let plan = try FilterCatalogue.builtIn.resolve([Self.kernel("(time * 10 + frame) / 255")])
      .plan(for: frame.geometry)
    let time = FrameTime(index: 7, arrival: .seconds(3603))
    let result = try await TestBench().executor.run(plan, on: frame, at: time)
    #expect(result.samples.joined().allSatisfy { $0 == 37 })
  }

  @Test func `neighbours beyond the edges are those at the edges`() async throws {
    let frame = try Self.frame(.rgb24)
    let samples = frame.samples[0]
    let result = try await TestBench().run([Self.kernel("sample(-3, 2)")], on: frame).samples[0]
    let (width, height) = (Self.size.width, Self.size.height)
    for y in 0 ..< height {
      for x in 0 ..< width {
        let source = 3 * (min(y + 2, height - 1) * width + max(x - 3, 0))
        let target = 3 * (y * width + x)
        #expect(result[target ..< target + 3] == samples[source ..< source + 3])
      }
    }
  }

  @Test func `kernels see straight colour, and alpha keeps its place`() async throws {
    let bench = TestBench()
    let sources = [
      "color.rgb * color.rgb", "vec4(color.rgb, color.a * 0.5)", "sample(1, 0)",
      "vec4(color.bgr * color.a, 1)", "sample(0.5, 0.25).rgb",
    ]
    for alpha in [AlphaMode.straight, .premultiplied, .opaque] {
      let frame = try Self.frame(.rgba8, alpha)
      for source in sources {
        let result = try await bench.run([Self.kernel(source)], on: frame)
        let expected = try bench.reference([Self.kernel(source)], on: frame)
        #expect(result.worstDifference(from: expected) <= 1, "\(source) on \(alpha)")
        guard alpha == .opaque else { continue }
        let fourth = stride(from: 3, to: frame.samples[0].count, by: 4)
        #expect(fourth.allSatisfy { result.samples[0][$0] == frame.samples[0][$0] })
      }
    }
  }
}
