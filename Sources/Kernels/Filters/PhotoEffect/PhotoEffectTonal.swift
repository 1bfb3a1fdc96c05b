/// Black and white with plain contrast.
struct PhotoEffectTonal: CatalogueFilter {
  static let description = FilterDescription(
    name: "photoEffectTonal",
    summary: "Black and white with plain contrast.",
    category: .color, reach: .pixel, fidelity: .approximation,
    formula: "Rec. 601 luma")

  init(_ arguments: Arguments) {}

  func nodes(for geometry: FrameGeometry) -> [Node] {
    [.matrix(PhotoLook.gray)]
  }
}
