/// The look of instant film.
struct PhotoEffectInstant: CatalogueFilter {
  static let description = FilterDescription(
    name: "photoEffectInstant",
    summary: "The look of instant film.",
    category: .color, reach: .pixel, fidelity: .approximation,
    formula:
      "Saturation .8, warm highlights, lifted and slightly green blacks, by a tone curve a channel")

  init(_ arguments: Arguments) {}

  func nodes(for geometry: FrameGeometry) -> [Node] {
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
