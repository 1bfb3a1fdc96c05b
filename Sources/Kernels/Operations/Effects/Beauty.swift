/// A smoothing of skin that keeps eyes, lips and hair.
struct Beauty: ArgumentFilter, SpaceDependentFilter {
  static let description = FilterDescription(
    name: "beauty",
    summary: "Smooths skin and keeps edges; other colours do not change.",
    category: .effect, reach: .frame, fidelity: .formula,
    keywords: "smooth wrinkles makeup face soft",
    examples: ["beauty(smoothing: 1)"],
    formula: """
      rgb' = rgb + smoothing * k * (S - Y), Y and S those of edgePreservingSmooth with edges .12; k = \
      clamp(1.5 - ((Cb + .1) / .1)^2 - ((Cr - .098) / .078)^2, 0, 1), the likelihood of skin by \
      chroma in units of white (after Chai and Ngan 1999), which holds skin of every shade. \
      Multiplied by alpha. Computed on gamma-encoded colour in every working space; smoothing 0 \
      changes nothing
      """,
    parameters: [
      ParameterDescription(
        "smoothing", .number, default: .number(0.7), slider: 0 ... 1, limits: 0 ... 1,
        "The share of the skin's detail that is removed; 0 changes nothing.")
    ])

  /// The contrast above which an edge is kept.
  private static let edges = 0.12

  let arguments: Arguments

  /// The nodes in a working space: in linear light the picture is encoded and decoded again.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode] {
    GuidedDetailOperation(
      gain: -self.arguments.number("smoothing"), isSkinOnly: true,
      guided: GuidedFilter(epsilon: Self.edges * Self.edges)
    ).nodes(in: space)
  }
}
