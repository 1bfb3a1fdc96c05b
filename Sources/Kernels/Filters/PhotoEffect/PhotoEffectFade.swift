/// Vintage film with diminished colour.
struct PhotoEffectFade: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "photoEffectFade",
    summary: "Vintage film with diminished colour.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula: "A fixed look, tuned by eye: saturation .7, lifted blacks and lowered whites")

  private static let look = PhotoLook(
    .saturation(0.7),
    red: LookCurve([0, 0.09], [0.25, 0.29], [0.5, 0.53], [0.75, 0.75], [1, 0.95]),
    green: LookCurve([0, 0.09], [0.25, 0.29], [0.5, 0.53], [0.75, 0.75], [1, 0.95]),
    blue: LookCurve([0, 0.11], [0.25, 0.3], [0.5, 0.52], [0.75, 0.73], [1, 0.92]))

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}
