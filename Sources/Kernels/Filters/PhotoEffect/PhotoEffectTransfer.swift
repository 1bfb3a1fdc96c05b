/// Vintage film with emphasized warm colours.
struct PhotoEffectTransfer: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "photoEffectTransfer",
    summary: "Vintage film with emphasized warm colours.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula:
      "A fixed look, tuned by eye: red raised, blue lowered in the lights, blacks a little lifted")

  private static let look = PhotoLook(
    .saturation(0.9),
    red: LookCurve([0, 0.05], [0.25, 0.31], [0.5, 0.6], [0.75, 0.83], [1, 1]),
    green: LookCurve([0, 0.03], [0.25, 0.25], [0.5, 0.52], [0.75, 0.77], [1, 0.97]),
    blue: LookCurve([0, 0.06], [0.25, 0.23], [0.5, 0.43], [0.75, 0.64], [1, 0.84]))

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}
