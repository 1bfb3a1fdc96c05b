/// A smoothing that keeps edges.
struct EdgePreservingSmooth: ArgumentFilter, SpaceDependentFilter {
  static let description = FilterDescription(
    name: "edgePreservingSmooth",
    summary: "Smooths surfaces and noise, and keeps edges sharp; colours do not change.",
    category: .blur, reach: .frame, fidelity: .formula,
    keywords: "skin soft denoise",
    formula: """
      rgb' = rgb + amount * (S - Y), in YUV formats on the luma plane alone; Y = .299 r + .587 g + .114 \
      b, S the colour guided filter (He, Sun and Tang 2013) of Y with the picture as its guide, in \
      boxes of 11x11 cells of a picture of at most 320x180 means, with epsilon = edges^2; its weights \
      are applied to the picture's pixels. Multiplied by alpha. Computed on gamma-encoded colour in \
      every working space; amount 0 changes nothing
      """,
    parameters: [
      ParameterDescription(
        "amount", .number, default: .number(1), slider: 0 ... 1, limits: 0 ... 1,
        "The share of the detail that is removed; 0 changes nothing."),
      ParameterDescription(
        "edges", .number, default: .number(0.08), slider: 0.01 ... 0.3, limits: 0.001 ... 1,
        "The contrast, as a share of white, above which an edge is kept."),
    ])

  let arguments: Arguments

  /// The nodes in a working space: in linear light the picture is encoded and decoded again.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode] {
    let edges = self.arguments.number("edges")
    return GuidedDetailOperation(
      gain: -self.arguments.number("amount"), guided: GuidedFilter(epsilon: edges * edges)
    ).nodes(in: space)
  }
}
