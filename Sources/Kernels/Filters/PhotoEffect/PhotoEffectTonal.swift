/// Black and white with plain contrast.
public struct PhotoEffectTonal: CatalogueFilter {
  public static let description = FilterDescription(
    name: "photoEffectTonal",
    summary: "Black and white with plain contrast.",
    category: .color, reach: .pixel, fidelity: .approximation,
    formula: "Rec. 601 luma")

  public init(_ arguments: Arguments) {}

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    [.matrix(PhotoLook.gray)]
  }
}
