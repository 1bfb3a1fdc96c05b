/// Vivid colours.
public struct PhotoEffectChrome: CatalogueFilter {
  public static let description = FilterDescription(
    name: "photoEffectChrome",
    summary: "Vivid colours.",
    category: .color, reach: .pixel, fidelity: .approximation,
    formula: "Saturation 1.3, then a mild S-shaped tone curve")

  public init(_ arguments: Arguments) {}

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    [
      .matrix(PhotoLook.saturation(1.3)),
      .colorKernel(ToneKernel(red: .mild, green: .mild, blue: .mild)),
    ]
  }
}
