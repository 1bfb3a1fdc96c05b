import SidelightKernels
import Testing

/// Every filter, with the settings that follow from its description, against the naive reference.
@Suite struct `Settings of descriptions and the reference` {
  /// The tolerances in levels between the limits of filters whose passes round twice; 1 for others.
  private static let tolerances: [String: Double] = ["gaussianBlur": 2, "sketch": 4]
  /// The tolerances in levels at the limits of filters that magnify the rounding of a sample there
  /// by more than in random chains.
  private static let tolerancesAtLimits: [String: Double] = [
    "bloom": 7, "convolution3X3": 8, "convolution5X5": 14, "convolutionRGB3X3": 8,
    "exposureAdjust": 25, "gaussianBlur": 2, "gloom": 7, "twirlDistortion": 7,
  ]
  /// A setting that jumps within a pixel: all but the centre is black.
  private static let jump: Pipeline = [.filter("vignette", ["radius": .number(0)])]

  @Test(arguments: RandomStages.descriptions.map(\.name), PixelFormat.allCases)
  func `each setting is within the tolerance of the reference`(
    _ name: String, _ format: PixelFormat
  ) async throws {
    var bench = TestBench()
    bench.catalogue = ChainAssets.catalogue
    let filter = try #require(bench.catalogue.description(named: name))
    let recipe = StageRecipe.all[name] ?? StageRecipe()
    // Colours of YUV formats are not exact, and may lie on a jump.
    if recipe.isDiscontinuous, format.isYUV { return }
    for (pipeline, isAtLimit) in try filter.derivedSettings(in: bench.catalogue)
    where pipeline != Self.jump {
      let tolerance =
        isAtLimit
        ? Self.tolerancesAtLimits[name] ?? 1.5 * recipe.gain : Self.tolerances[name] ?? 1
      try await FormatSweep.compare(
        pipeline, format, tolerance: tolerance, bench: bench,
        index: 3,
        sizes: filter.reach == .pixel ? FormatSweep.sizes : [FrameSize(width: 33, height: 17)])
    }
  }
}
