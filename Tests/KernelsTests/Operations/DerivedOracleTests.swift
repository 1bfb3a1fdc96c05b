import SidelightKernels
import Testing

/// Every filter, with the settings that follow from its description, against the naive reference.
@Suite struct `Settings of descriptions and the reference` {
  /// The tolerance is for settings at the limits, which magnify the rounding of a sample by more than
  /// those of random chains.
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
    for pipeline in filter.derivedSettings(in: bench.catalogue) {
      try await FormatSweep.compare(
        pipeline, format, tolerance: 1.5 * recipe.gain, bench: bench, index: 3,
        sizes: filter.reach == .pixel ? FormatSweep.sizes : [FrameSize(width: 33, height: 17)])
    }
  }
}
