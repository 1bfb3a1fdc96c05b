/// Black and white with low contrast.
struct PhotoEffectMono: CatalogueFilter {
  static let description = FilterDescription(
    name: "photoEffectMono",
    summary: "Black and white with low contrast.",
    category: .color, reach: .pixel, fidelity: .approximation,
    formula: "Rec. 601 luma, contrast .9 about middle grey")

  init(_ arguments: Arguments) {}

  func nodes(for geometry: FrameGeometry) -> [Node] {
    [.matrix(PhotoLook.gray.followed(by: PhotoLook.contrast(0.9)))]
  }
}
