/// Removes specks: each sample becomes the median of its neighbourhood.
struct Median: CatalogueFilter {
  static let description = FilterDescription(
    name: "median",
    summary: "Removes specks by medians of neighbouring pixels; edges stay sharp.",
    category: .stylize, reach: .neighborhood, fidelity: .modelled,
    formula: """
      Each channel's median of 3x3 samples, on every plane at its own size; colour is premultiplied. \
      Edges are clamped
      """)

  init(_ arguments: Arguments) {}

  func nodes(for geometry: FrameGeometry) -> [Node] {
    [Node(.neighborhood(MedianOperation()))]
  }
}
