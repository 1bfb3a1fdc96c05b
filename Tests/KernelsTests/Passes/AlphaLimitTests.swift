import SidelightKernelLanguage
import SidelightKernels
import Testing

/// Premultiplied frames hold no colour beyond its alpha, for every sequence of passes.
@Suite struct `The limit of colour to alpha` {
  static let pipelines: [Pipeline] = [
    [.filter("colorControls", ["brightness": .number(0.5)]), .filter("boxBlur")],
    [
      .filter("unsharpMask", ["radius": .number(1.5)]),
      .filter("crop", ["width": .number(2), "height": .number(3)]),
    ],
    [.filter("edges"), .filter("boxBlur", ["radius": .number(1)])],
    [.filter("convolution3X3", ["weights": .vector([0, -1, 0, -1, 5, -1, 0, -1, 0])])],
  ]

  @Test(arguments: Self.pipelines, [PixelFormat.bgra8, .rgba8])
  func `results equal the reference`(_ pipeline: Pipeline, _ format: PixelFormat) async throws {
    let geometry = FrameGeometry(
      format: format, size: FrameSize(width: 64, height: 48),
      color: ColorDescription(alpha: .premultiplied))
    let frame = try TestFrame.make(geometry, seed: 3)
    let bench = TestBench()
    let result = try await bench.run(pipeline, on: frame)
    #expect(result.worstDifference(from: try bench.reference(pipeline, on: frame)) <= 1)
    let samples = result.samples[0]
    #expect(samples.indices.allSatisfy { samples[$0] <= samples[$0 | 3] })
  }

  @Test func `a pass that limits colour itself needs no further pass`() throws {
    let geometry = FrameGeometry(
      format: .bgra8, size: FrameSize(width: 64, height: 48),
      color: ColorDescription(alpha: .premultiplied))
    let plan = try FilterCatalogue.builtIn.resolve([.filter("unsharpMask")]).plan(for: geometry)
    #expect(plan.passes.count == 1)
  }
}
