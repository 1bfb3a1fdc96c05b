/// The look of instant film.
public struct PhotoEffectInstant: CatalogueFilter {
  public static let description = FilterDescription(
    name: "photoEffectInstant",
    summary: "The look of instant film.",
    category: .color, reach: .pixel, fidelity: .approximation,
    formula:
      "Saturation .8, warm highlights, lifted and slightly green blacks, by a tone curve a channel")

  public init(_ arguments: Arguments) {}

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    [
      .matrix(PhotoLook.saturation(0.8)),
      .colorKernel(
        ToneKernel(
          red: ToneKernel.Curve(0.05, 0.85, 0.55, -0.47),
          green: ToneKernel.Curve(0.07, 0.85, 0.3, -0.26),
          blue: ToneKernel.Curve(0.09, 0.85, 0, -0.1))),
    ]
  }
}
