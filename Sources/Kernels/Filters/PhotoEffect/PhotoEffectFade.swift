/// Washed-out colours.
public struct PhotoEffectFade: CatalogueFilter {
  public static let description = FilterDescription(
    name: "photoEffectFade",
    summary: "Washed-out colours.",
    category: .color, reach: .pixel, fidelity: .approximation,
    formula: "Saturation .65, contrast .8, blacks lifted by .06")

  public init(_ arguments: Arguments) {}

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    [
      .matrix(
        PhotoLook.saturation(0.65).followed(by: PhotoLook.contrast(0.8))
          .followed(by: PhotoLook.adding([0.06, 0.06, 0.06])))
    ]
  }
}
