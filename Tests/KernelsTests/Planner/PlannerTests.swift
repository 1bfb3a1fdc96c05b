import SidelightKernelLanguage
import SidelightKernels
import Testing

/// Plans compute the stages of their pipelines.
@Suite struct `The planner` {
  static let geometry = FrameGeometry(
    format: .bgra8, size: FrameSize(width: 53, height: 37), color: ColorDescription(alpha: .opaque))

  static func plan(_ pipeline: Pipeline, _ geometry: FrameGeometry = Self.geometry) throws -> Plan {
    try FilterCatalogue.builtIn.resolve(pipeline).plan(for: geometry)
  }

  @Test func `adjacent colour stages become one pass`() throws {
    let plan = try Self.plan([
      .filter("sepiaTone"), .filter("hueAdjust", ["angle": .number(1)]), .filter("colorInvert"),
      .filter("vignette", ["intensity": .number(1)]), .filter("colorControls"),
    ])
    #expect(plan.passes.count == 1)
    #expect(plan.passes[0].filters == ["sepiaTone", "hueAdjust", "colorInvert", "vignette"])
    #expect(plan.passes[0].kind == .pointwise)
  }

  @Test func `an empty pipeline compiles to no pass`() throws {
    #expect(try Self.plan([]).isIdentity)
    #expect(try Self.plan([Stage(.pipeline([]))]).isIdentity)
  }

  @Test func `inactive stages and stages of mix 0 compile to no pass`() throws {
    let plan = try Self.plan([
      Stage(.filter(FilterCall(name: "sepiaTone")), isActive: false),
      Stage(.filter(FilterCall(name: "gaussianBlur")), mix: 0),
      Stage(.pipeline([.filter("colorInvert")]), isActive: false),
    ])
    #expect(plan.isIdentity)
  }

  @Test func `active filters without effect are named with their stages`() throws {
    let plan = try Self.plan([
      .filter("hueAdjust"), .filter("vignette"), .filter("motion"),
      Stage(.pipeline([.filter("sepiaTone"), .filter("exposureAdjust")])),
      Stage(.filter(FilterCall(name: "vibrance")), isActive: false),
    ])
    #expect(
      plan.idleStages.map { "\($0.path) \($0.filter)" }
        == ["stages[0] hueAdjust", "stages[3].pipeline.stages[1] exposureAdjust"])
  }

  @Test func `a region outside the frame compiles to no pass`() throws {
    let outside = Region(
      origin: FramePoint(x: Length(500), y: Length(0)), width: Length(9), height: Length(9))
    let all = Region(
      origin: FramePoint(x: Length(0), y: Length(0)), width: Length(1, .width),
      height: Length(1, .height))
    let call = FilterCall(name: "gaussianBlur")
    #expect(try Self.plan([Stage(.filter(call), region: outside)]).isIdentity)
    #expect(try Self.plan([Stage(.filter(call), region: all)]).passes.count == 1)
  }

  @Test func `a plan describes its passes`() throws {
    let plan = try Self.plan([.filter("gaussianBlur"), .filter("sepiaTone")])
    #expect(plan.description.contains("1. gaussianBlur: Gaussian of sigma 10.0"))
    #expect(plan.description.contains("2. sepiaTone: one colour matrix"))
  }

  @Test func `a nested pipeline equals the flat pipeline`() async throws {
    let pixellate = Stage.filter("pixellate", ["scale": .number(6)])
    let hue = Stage.filter("hueAdjust", ["angle": .number(3.14)])
    let frame = try TestFrame.make(Self.geometry)
    let bench = TestBench()
    let nested = try await bench.run(
      [pixellate, Stage(.pipeline([.filter("vignette", ["intensity": .number(1)]), hue]))],
      on: frame)
    let flat = try await bench.run(
      [pixellate, .filter("vignette", ["intensity": .number(1)]), hue], on: frame)
    #expect(nested.samples == flat.samples)
  }

  @Test func `a stage is paused and activated by its id`() async throws {
    let stage = Stage(.filter(FilterCall(name: "colorInvert")), id: "x")
    let pipeline: Pipeline = [.filter("sepiaTone"), Stage(.pipeline([stage]))]
    let resolved = try FilterCatalogue.builtIn.resolve(pipeline)
    for name in ["x", "stages[1].pipeline.stages[0]"] {
      var off = pipeline
      try off.setActive(false, stage: name)
      #expect(resolved.activeFilters == ["sepiaTone", "colorInvert"])
      #expect(try FilterCatalogue.builtIn.resolve(off).activeFilters == ["sepiaTone"])
      try off.setActive(true, stage: name)
      #expect(off == pipeline)
    }
  }

  @Test func `a plan of ten stages is compiled quickly`() throws {
    let stages = (0 ..< 10).map { index in
      Stage.filter(
        ["sepiaTone", "hueAdjust", "vignette", "gaussianBlur"][index % 4],
        index % 4 == 2 ? ["intensity": .number(1)] : [:])
    }
    let geometry = FrameGeometry(format: .bgra8, size: FrameSize(width: 1920, height: 1080))
    let pipeline = try FilterCatalogue.builtIn.resolve(Pipeline(stages: stages))
    let clock = ContinuousClock()
    let fastest = (0 ..< 20).map { _ in clock.measure { _ = pipeline.plan(for: geometry) } }.min()
    // The service-level objective is 200 us; a shared machine gets room.
    #expect(try #require(fastest) < .milliseconds(2))
  }

  @Test func `the cache returns the plan of a pipeline and geometry, and is bounded`() throws {
    let cache = PlanCache(capacity: 2)
    let pipelines = try [Pipeline](arrayLiteral: [.filter("sepiaTone")], [.filter("pixellate")], [])
      .map { try FilterCatalogue.builtIn.resolve($0) }
    for _ in 0 ..< 3 {
      for pipeline in pipelines {
        let plan = cache.plan(for: pipeline, Self.geometry)
        #expect(plan.passes.flatMap(\.filters) == pipeline.activeFilters)
        #expect(plan.input == Self.geometry)
      }
    }
  }

  /// Random pipelines against the interpreter: folded is unfolded, fused is unfused.
  @Test(arguments: 0 ..< 300)
  func `a random pipeline equals the reference`(_ seed: Int) async throws {
    var random = TestRandom(seed: UInt64(seed) &* 7919 &+ 13)
    let pipeline = RandomPipeline.make(&random)
    let format = PixelFormat.allCases.randomElement(using: &random) ?? .bgra8
    let color = ColorDescription(
      range: YUVRange.allCases.randomElement(using: &random) ?? .video,
      matrix: YUVMatrix.allCases.randomElement(using: &random) ?? .bt601,
      alpha: AlphaMode.allCases.randomElement(using: &random) ?? .opaque)
    let geometry = FrameGeometry(
      format: format,
      size: FrameSize(
        width: Int.random(in: 1 ... 70, using: &random),
        height: Int.random(in: 1 ... 50, using: &random)),
      color: color)
    let frame = try TestFrame.make(geometry, seed: UInt64(seed))
    let bench = TestBench(threads: 1 + seed % 4)
    let result = try await bench.run(pipeline, on: frame)
    let expected = try bench.reference(pipeline, on: frame)
    #expect(
      result.worstDifference(from: expected) <= 1.5, "\(geometry) \(pipeline)")
  }

  @Test func `bands do not change the result`() async throws {
    let pipeline: Pipeline = [
      .filter("gaussianBlur", ["radius": .number(4)]),
      .filter("vignette", ["intensity": .number(1)]),
      .filter("pixellate"), .filter("gaussianBlur", ["radius": .number(12)]),
    ]
    for format in PixelFormat.allCases {
      let geometry = FrameGeometry(
        format: format, size: FrameSize(width: 901, height: 703),
        color: ColorDescription(alpha: .opaque))
      let frame = try TestFrame.make(geometry)
      let whole = try await TestBench(threads: 1).run(pipeline, on: frame)
      let banded = try await TestBench(threads: 5).run(pipeline, on: frame)
      #expect(whole.samples == banded.samples)
    }
  }
}
