import SidelightKernels
import SidelightReference
import Testing

/// Results in another encoding than the input's.
@Suite struct `Results in other encodings` {
  static let sizes = [(1, 1), (2, 3), (33, 17), (67, 46), (301, 5), (130, 97)]
    .map { FrameSize(width: $0.0, height: $0.1) }

  /// Every way in which a format's samples may be meant.
  static let encodings = PixelFormat.allCases.flatMap { format in
    FilterOracleTests.colors(format).map { FrameEncoding(format: format, color: $0) }
  }

  static func compare(
    _ pipeline: Pipeline, _ source: FrameEncoding, _ target: FrameEncoding, _ size: FrameSize,
    seed: Int, tolerance: Double = 1
  ) async throws {
    let bench = TestBench()
    let geometry = FrameGeometry(format: source.format, size: size, color: source.color)
    let frame = try TestFrame.make(
      geometry, seed: UInt64(seed), padding: TestFrame.Padding.allCases[seed % 3])
    let resolved = try bench.catalogue.resolve(pipeline)
    let plan = resolved.plan(for: geometry, as: target)
    let result = try await bench.executor.run(plan, on: frame)
    let expected = ReferenceInterpreter().apply(resolved, to: ReferencePicture(frame))
      .converted(to: target).encoded()
    #expect(result.format == target.format)
    #expect(plan.output == result.geometry)
    let worst = result.worstDifference(from: expected)
    #expect(worst <= tolerance, "\(source) to \(target) at \(size): \(plan)")
  }

  @Test(arguments: Self.encodings)
  func `every conversion is within a level of the reference`(_ source: FrameEncoding) async throws {
    for target in Self.encodings {
      for (index, size) in Self.sizes.enumerated() {
        try await Self.compare([], source, target, size, seed: index)
      }
    }
  }

  @Test(
    arguments: [
      [.filter("sepiaTone", ["intensity": .number(0.8)])],
      [.filter("colorControls", ["brightness": .number(0.1), "contrast": .number(1.4)])],
      [.filter("glow")],
      [.filter("vignette", ["intensity": .number(1)]), .filter("colorInvert")],
      [.filter("gaussianBlur", ["radius": .number(1.5)])],
      [Stage(.filter(FilterCall(name: "colorInvert")), mix: 0.4)],
    ] as [Pipeline])
  func `a conversion after filters is within a level and rounded once`(
    _ pipeline: Pipeline
  ) async throws {
    for source in Self.encodings {
      for (index, target) in Self.encodings.enumerated() {
        try await Self.compare(pipeline, source, target, Self.sizes[2 + index % 3], seed: index)
      }
    }
  }

  @Test func `a conversion to the frames' own encoding compiles to no pass`() throws {
    let geometry = FrameGeometry(
      format: .i420, size: Self.sizes[2], color: ColorDescription(alpha: .opaque))
    // I420 doesn't have alpha.
    let same = FrameEncoding(format: .i420, color: ColorDescription(alpha: .straight))
    #expect(try TestBench().catalogue.resolve([]).plan(for: geometry, as: same).isIdentity)
  }

  @Test func `I420 and NV12 are converted without loss`() async throws {
    let bench = TestBench()
    let geometry = FrameGeometry(format: .i420, size: FrameSize(width: 131, height: 77))
    let frame = try TestFrame.make(geometry)
    let there = ResolvedPipeline.empty.plan(for: geometry, as: FrameEncoding(format: .nv12))
    let packed = try await bench.executor.run(there, on: frame)
    let back = ResolvedPipeline.empty.plan(
      for: packed.geometry, as: FrameEncoding(format: .i420))
    let result = try await bench.executor.run(back, on: packed)
    #expect(packed.samples[0] == frame.samples[0])
    #expect(result.samples == frame.samples)
  }

  @Test func `a matrix and a conversion are one pass`() throws {
    let geometry = FrameGeometry(format: .nv12, size: Self.sizes[2])
    let plan = try TestBench().catalogue.resolve([.filter("sepiaTone")])
      .plan(for: geometry, as: FrameEncoding(format: .bgra8))
    #expect(plan.passes.count == 1)
    #expect(plan.description == "1. sepiaTone+convert: folded: one colour matrix, nv12 to bgra8")
  }

  @Test func `transparent pixels are composited on black where alpha is lost`() async throws {
    let bench = TestBench()
    let geometry = FrameGeometry(
      format: .bgra8, size: Self.sizes[3], color: ColorDescription(alpha: .straight))
    let clear = try TestFrame.make(geometry, padding: .packed) { _, _, _, channel in
      channel == 3 ? 0 : 200
    }
    for format in [PixelFormat.rgb24, .gray8, .i420] {
      let plan = ResolvedPipeline.empty.plan(
        for: geometry,
        as: FrameEncoding(format: format, color: ColorDescription(range: .full)))
      let result = try await bench.executor.run(plan, on: clear)
      #expect(result.samples[0].allSatisfy { $0 == 0 })
    }
  }

  @Test(arguments: PixelFormat.allCases)
  func `bands do not change the result`(_ format: PixelFormat) async throws {
    let geometry = FrameGeometry(format: format, size: FrameSize(width: 901, height: 703))
    let frame = try TestFrame.make(geometry)
    for target in PixelFormat.allCases {
      let plan = ResolvedPipeline.empty.plan(for: geometry, as: FrameEncoding(format: target))
      let (one, many) = (TestBench(threads: 1), TestBench(threads: 5))
      let whole = try await one.executor.run(plan, on: frame)
      let banded = try await many.executor.run(plan, on: frame)
      #expect(whole.samples == banded.samples)
    }
  }
}
