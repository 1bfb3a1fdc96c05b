/// Vintage film with distorted colours, as of an instant camera.
struct PhotoEffectInstant: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "photoEffectInstant",
    summary: "Vintage film with distorted colours, as of an instant camera.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula:
      "A fixed look, tuned by eye: saturation .85; shadows lifted towards blue, highlights lowered towards yellow"
  )

  private static let look = PhotoLook(
    .saturation(0.85),
    red: LookCurve([0, 0.06], [0.25, 0.28], [0.5, 0.57], [0.75, 0.81], [1, 0.98]),
    green: LookCurve([0, 0.05], [0.25, 0.28], [0.5, 0.55], [0.75, 0.78], [1, 0.95]),
    blue: LookCurve([0, 0.13], [0.25, 0.31], [0.5, 0.5], [0.75, 0.67], [1, 0.82]))

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}
