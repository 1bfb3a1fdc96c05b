/// Black and white with exaggerated contrast.
struct PhotoEffectNoir: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "photoEffectNoir",
    summary: "Black and white with exaggerated contrast.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula:
      "A fixed look, tuned by eye: a heavy S curve on a luma with more red and less blue, as of a film behind a yellow filter"
  )

  private static let look = PhotoLook(
    .monochrome([0.36, 0.58, 0.06]),
    LookCurve([0, 0], [0.22, 0.08], [0.5, 0.48], [0.78, 0.92], [1, 1]))

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}
