/// Black and white with exaggerated contrast.
public struct PhotoEffectNoir: CatalogueFilter {
  public static let description = FilterDescription(
    name: "photoEffectNoir",
    summary: "Black and white with exaggerated contrast.",
    category: .color, reach: .pixel, fidelity: .approximation,
    formula: "Rec. 601 luma, then an S-shaped tone curve")

  public init(_ arguments: Arguments) {}

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    [.matrix(PhotoLook.gray), .colorKernel(ToneKernel(red: .steep, green: .steep, blue: .steep))]
  }
}
