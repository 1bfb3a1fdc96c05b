/// Black and white with low contrast.
public struct PhotoEffectMono: CatalogueFilter {
  public static let description = FilterDescription(
    name: "photoEffectMono",
    summary: "Black and white with low contrast.",
    category: .color, reach: .pixel, fidelity: .approximation,
    formula: "Rec. 601 luma, contrast .9 about middle grey")

  public init(_ arguments: Arguments) {}

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    [.matrix(PhotoLook.gray.followed(by: PhotoLook.contrast(0.9)))]
  }
}
