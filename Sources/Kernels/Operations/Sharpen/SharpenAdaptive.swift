/// A sharpening that amplifies texture, but not noise or strong edges.
struct SharpenAdaptive: ArgumentFilter, SpaceDependentFilter {
  static let description = FilterDescription(
    name: "sharpenAdaptive",
    summary: "Sharpens texture without amplifying noise and without halos at edges.",
    category: .sharpen, reach: .frame, fidelity: .formula,
    keywords: "crisp focus detail",
    examples: ["sharpenAdaptive(sharpness: 2)"],
    formula: """
      rgb' = rgb + clamp(sharpness * d * d^2 / (d^2 + noise^2), -.15, .15), d = Y - S, Y and S those \
      of edgePreservingSmooth with edges .1 and boxes of 5x5 cells: at strong edges d is near 0. Multiplied by alpha. \
      Computed on gamma-encoded colour in every working space; sharpness 0 changes nothing
      """,
    parameters: [
      ParameterDescription(
        "sharpness", .number, default: .number(1), slider: 0 ... 3, limits: 0 ... 16,
        "The weight of the added detail; 0 changes nothing."),
      ParameterDescription(
        "noise", .number, default: .number(0.02), slider: 0 ... 0.1, limits: 0 ... 1,
        "The amplitude of detail, as a share of white, that is taken for noise."),
    ])

  /// The contrast above which an edge counts as strong.
  private static let edges = 0.1
  /// The distance from a box's centre to its sides: detail is finer than for smoothing.
  private static let radius = 2
  /// The maximum change, in units of white.
  private static let limit = 0.15

  let arguments: Arguments

  /// The nodes in a working space: in linear light the picture is encoded and decoded again.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode] {
    GuidedDetailOperation(
      gain: self.arguments.number("sharpness"), coring: self.arguments.number("noise"),
      limit: Self.limit,
      guided: GuidedFilter(radius: Self.radius, epsilon: Self.edges * Self.edges)
    ).nodes(in: space)
  }
}
