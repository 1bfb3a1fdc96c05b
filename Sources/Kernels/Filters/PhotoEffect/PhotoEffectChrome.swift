/// Vintage film with exaggerated colour.
public struct PhotoEffectChrome: CatalogueFilter {
  public static let description = FilterDescription(
    name: "photoEffectChrome",
    summary: "Vintage film with exaggerated colour.",
    category: .effect, reach: .pixel, fidelity: .approximation,
    formula: "A fixed look, tuned by eye: saturation 1.3, and an S curve")

  private static let look = PhotoLook(
    .saturation(1.3),
    ToneCurve([0, 0], [0.25, 0.22], [0.5, 0.53], [0.75, 0.8], [1, 1]))

  public init(_ arguments: Arguments) {}

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    Self.look.nodes
  }
}
