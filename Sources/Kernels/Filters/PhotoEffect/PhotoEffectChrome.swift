/// Vintage film with exaggerated colour.
struct PhotoEffectChrome: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "photoEffectChrome",
    summary: "Vintage film with exaggerated colour.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula: "A fixed look, tuned by eye: saturation 1.3, and an S curve")

  private static let look = PhotoLook(
    .saturation(1.3),
    LookCurve([0, 0], [0.25, 0.22], [0.5, 0.53], [0.75, 0.8], [1, 1]))

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}
