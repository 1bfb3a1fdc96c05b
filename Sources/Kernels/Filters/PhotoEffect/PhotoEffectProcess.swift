/// Vintage film with emphasized cool colours.
struct PhotoEffectProcess: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "photoEffectProcess",
    summary: "Vintage film with emphasized cool colours.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula:
      "A fixed look, tuned by eye: cross-processed: red steep, blue raised most in the shadows")

  private static let look = PhotoLook(
    .saturation(0.95),
    red: LookCurve([0, 0], [0.25, 0.18], [0.5, 0.46], [0.75, 0.75], [1, 0.95]),
    green: LookCurve([0, 0.02], [0.25, 0.25], [0.5, 0.54], [0.75, 0.8], [1, 1]),
    blue: LookCurve([0, 0.12], [0.25, 0.34], [0.5, 0.57], [0.75, 0.78], [1, 0.97]))

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}
