/// The warm look of an aged print.
public struct PhotoEffectTransfer: CatalogueFilter {
  public static let description = FilterDescription(
    name: "photoEffectTransfer",
    summary: "The warm look of an aged print.",
    category: .color, reach: .pixel, fidelity: .approximation,
    formula:
      "Saturation .9; highlights yellowed, blacks lifted and browned, by a tone curve a channel")

  public init(_ arguments: Arguments) {}

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    [
      .matrix(PhotoLook.saturation(0.9)),
      .colorKernel(
        ToneKernel(
          red: ToneKernel.Curve(0.09, 0.9, 0.3, -0.29),
          green: ToneKernel.Curve(0.05, 0.9, 0.25, -0.25),
          blue: ToneKernel.Curve(0.05, 0.85, 0, -0.15))),
    ]
  }
}
