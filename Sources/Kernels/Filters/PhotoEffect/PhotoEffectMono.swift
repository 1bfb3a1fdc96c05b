/// Black and white with low contrast.
struct PhotoEffectMono: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "photoEffectMono",
    summary: "Black and white with low contrast.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula:
      "A fixed look, tuned by eye: a curve that lifts black and lowers white, on Rec. 601 luma")

  private static let look = PhotoLook(
    .monochrome([0.299, 0.587, 0.114]),
    LookCurve([0, 0.09], [0.25, 0.3], [0.5, 0.51], [0.75, 0.72], [1, 0.92]))

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}
