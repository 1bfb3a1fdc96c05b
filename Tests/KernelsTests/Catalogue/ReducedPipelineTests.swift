import SidelightKernelLanguage
import SidelightKernels
import Testing

/// The cheaper variant of a pipeline.
@Suite struct ReducedPipelineTests {
  static let catalogue = FilterCatalogue.builtIn
  static let geometry = FrameGeometry(
    format: .bgra8, size: FrameSize(width: 320, height: 180))

  static func reduced(_ pipeline: Pipeline) throws -> ResolvedPipeline? {
    Self.catalogue.reduced(try Self.catalogue.resolve(pipeline), for: Self.geometry.size)
  }

  @Test(
    arguments: [
      ([.filter("gaussianBlur")], true),
      ([.filter("sepiaTone"), .filter("motionBlur"), .filter("vignette")], true),
      ([Stage(.pipeline([.filter("zoomBlur")]))], true),
      ([.filter("sepiaTone")], false), ([], false),
      ([.filter("gaussianBlur"), .filter("unsharpMask")], false),
      (
        [.filter("gaussianBlur"), .filter("crop", ["width": .number(20), "height": .number(20)])],
        false
      ),
      ([Stage(.filter(FilterCall(name: "gaussianBlur")), isActive: false)], false),
    ] as [([Stage], Bool)])
  func `only what blurs, and is else of single pixels, has a variant`(
    stages: [Stage], hasVariant: Bool
  ) throws {
    #expect((try Self.reduced(Pipeline(stages: stages)) != nil) == hasVariant)
  }

  @Test func `its frames have the size of the others, and look like them`() async throws {
    let bench = TestBench()
    let frame = try TestFrame.make(Self.geometry, seed: 1)
    let pipeline: Pipeline = [
      .filter("gaussianBlur", ["radius": .number(8)]), .filter("sepiaTone"),
      .filter("vignetteEffect", ["center": .point(FramePoint(x: Length(100), y: Length(60)))]),
    ]
    let resolved = try Self.catalogue.resolve(pipeline)
    let variant = try #require(Self.catalogue.reduced(resolved, for: Self.geometry.size))
    let full = try await bench.executor.run(resolved.plan(for: Self.geometry), on: frame)
    let cheap = try await bench.executor.run(variant.plan(for: Self.geometry), on: frame)
    #expect(cheap.size == full.size)
    let differences = zip(cheap.samples.joined(), full.samples.joined()).map {
      abs(Int($0) - Int($1))
    }
    #expect(Double(differences.reduce(0, +)) / Double(differences.count) < 2)
    #expect(differences.max() ?? 255 < 24)
  }
}
