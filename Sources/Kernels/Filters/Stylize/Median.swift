/// Removes specks: each sample becomes the median of its neighbourhood.
public struct Median: CatalogueFilter {
  public static let description = FilterDescription(
    name: "median",
    summary: "Removes specks by medians of neighbouring pixels; edges stay sharp.",
    category: .stylize, reach: .neighborhood, fidelity: .modelled,
    formula: """
      Each channel's median of 3x3 samples, on every plane at its own size; colour is premultiplied. \
      Edges are clamped
      """)

  public init(_ arguments: Arguments) {}

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    [Node(.neighborhood(MedianOperation()))]
  }
}
