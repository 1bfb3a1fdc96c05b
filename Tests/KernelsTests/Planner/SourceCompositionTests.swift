import SidelightKernelLanguage
import SidelightKernels
import Testing

/// Compositing with the frame before the first stage, by the name "source".
@Suite struct `Compositing with the source` {
  static func stage(_ name: String) -> Stage {
    .filter(name, ["backgroundImage": .text("source")])
  }

  /// The guides' grain: noise, weighed by a matrix, multiplied with the picture.
  static let grain: Pipeline = [
    .filter("randomGenerator"),
    .filter(
      "CIColorMatrix",
      [
        "inputRVector": .vector([0, 0.03, 0, 0]), "inputGVector": .vector([0, 0.03, 0, 0]),
        "inputBVector": .vector([0, 0.03, 0, 0]), "inputAVector": .vector([0, 0, 0, 0]),
        "inputBiasVector": .vector([0.97, 0.97, 0.97, 1]),
      ]),
    .filter("CIMultiplyCompositing", ["inputBackgroundImage": .text("source")]),
  ]

  static let pipelines: [Pipeline] = [
    Self.grain,
    [.filter("colorInvert"), Self.stage("multiplyCompositing")],
    [.filter("gaussianBlur", ["radius": .number(2)]), Self.stage("screenBlendMode")],
    [Self.stage("sourceOverCompositing"), .filter("sepiaTone")],
    [.filter("boxBlur"), Self.stage("screenBlendMode"), Self.stage("multiplyCompositing")],
    [
      .filter("photoEffectNoir"),
      .filter(
        "blendWithMask", ["maskImage": .text("large"), "backgroundImage": .text("source")]),
    ],
    // Mixed with the picture before it, and within a rectangle.
    [
      .filter("hueAdjust", ["angle": .number(1)]),
      Stage(
        Self.stage("multiplyCompositing").content, mix: 0.6,
        region: Region(
          origin: FramePoint(x: Length(2), y: Length(1)), width: Length(0.5, .width),
          height: Length(0.6, .height))),
    ],
    [.filter("colorInvert"), Stage(.pipeline([Self.stage("screenBlendMode")]))],
    // The picture has another size than the frame had.
    [
      .filter("scale", ["width": .number(40), "height": .number(30), "mode": .text("stretch")]),
      .filter("colorInvert"), Self.stage("multiplyCompositing"),
    ],
    [
      .filter("scale", ["width": .number(40), "height": .number(30), "mode": .text("stretch")]),
      Self.stage("screenBlendMode"), .filter("gaussianBlur", ["radius": .number(1)]),
    ],
    Pipeline(
      stages: [.filter("colorInvert"), Self.stage("multiplyCompositing")],
      workingSpace: .sRGBLinear),
  ]

  /// Every pass rounds straight colour under little alpha.
  @Test(arguments: Self.pipelines, PixelFormat.allCases)
  func `results are within a level of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await FormatSweep.compare(
      pipeline, format, tolerance: 1.5, bench: try CompositingFilterTests.bench(), index: 4)
  }

  @Test func `the guides' composition removes at most the light that the noise states`()
    async throws
  {
    let geometry = FrameGeometry(format: .rgb24, size: FrameSize(width: 90, height: 60))
    let frame = try TestFrame.flat(geometry, 200)
    let bench = TestBench()
    let samples = try await bench.run(Self.grain, on: frame, index: 1).samples[0]
    // 200 * (.97 ... 1), all channels the same.
    #expect(samples.allSatisfy { (194 ... 200).contains($0) })
    #expect(Set(samples) == Set(194 ... 200))
    for pixel in 0 ..< 90 * 60 {
      #expect(samples[3 * pixel] == samples[3 * pixel + 1])
    }
    let plan = try bench.catalogue.resolve(Self.grain).plan(for: geometry)
    #expect(plan.passes.map(\.name) == ["randomGenerator+colorMatrix+multiplyCompositing"])
    let next = try await bench.run(Self.grain, on: frame, index: 2)
    #expect(next.samples[0] != samples)
  }

  @Test func `the source is the frame before the first stage, not the picture so far`()
    async throws
  {
    let frame = try TestFrame.flat(
      FrameGeometry(format: .gray8, size: FrameSize(width: 8, height: 8)), 51)
    let black = Stage.filter("exposureAdjust", ["ev": .number(-10)])
    let nested = Stage(.pipeline([black, Self.stage("screenBlendMode")]))
    let result = try await TestBench().run([.filter("colorInvert"), nested], on: frame)
    // Almost black, screened with 51.
    #expect(result.samples[0].allSatisfy { $0 == 51 })
  }

  @Test func `the name source is reserved, and refused by other parameters`() throws {
    var catalogue = FilterCatalogue.builtIn
    let photo = try TestFrame.flat(
      FrameGeometry(format: .rgb24, size: FrameSize(width: 2, height: 2)), 9)
    catalogue.assets = AssetStore(["source": .image(try ImageAsset(photo))])
    for pipeline in [
      [.filter("overlay", ["asset": .text("source")])],
      [.filter("blendWithMask", ["maskImage": .text("source")])],
      [.filter("colorCube", ["asset": .text("source")])],
    ] as [Pipeline] {
      let error = #expect(throws: PipelineError.self) { try catalogue.resolve(pipeline) }
      #expect(error?.code == .unknownAsset)
    }
    let parameters = catalogue.descriptions.flatMap(\.parameters).filter(\.acceptsSource)
    let names = ["backgroundImage", "image2", "maskImage", "targetImage"]
    #expect(Set(parameters.map(\.name)) == Set(names))
  }
}
