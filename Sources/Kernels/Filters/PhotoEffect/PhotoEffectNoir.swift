/// Black and white with exaggerated contrast.
struct PhotoEffectNoir: CatalogueFilter {
  static let description = FilterDescription(
    name: "photoEffectNoir",
    summary: "Black and white with exaggerated contrast.",
    category: .color, reach: .pixel, fidelity: .approximation,
    formula: "Rec. 601 luma, then an S-shaped tone curve")

  init(_ arguments: Arguments) {}

  func nodes(for geometry: FrameGeometry) -> [Node] {
    [.matrix(PhotoLook.gray), .colorKernel(ToneKernel(red: .steep, green: .steep, blue: .steep))]
  }
}
