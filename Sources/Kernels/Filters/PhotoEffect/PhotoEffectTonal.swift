/// Black and white without much change of contrast.
struct PhotoEffectTonal: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "photoEffectTonal",
    summary: "Black and white without much change of contrast.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula: "A fixed look, tuned by eye: Rec. 601 luma, with a slight lift of the shadows")

  private static let look = PhotoLook(
    .monochrome([0.299, 0.587, 0.114]),
    LookCurve([0, 0.01], [0.25, 0.27], [0.5, 0.52], [0.75, 0.76], [1, 1]))

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}
