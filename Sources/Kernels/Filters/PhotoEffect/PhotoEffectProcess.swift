/// The cool look of cross-processed film.
public struct PhotoEffectProcess: CatalogueFilter {
  public static let description = FilterDescription(
    name: "photoEffectProcess",
    summary: "The cool look of cross-processed film.",
    category: .color, reach: .pixel, fidelity: .approximation,
    formula:
      "Saturation .95; blacks lifted in blue and highlights taken from it, green steepened, by a tone curve a channel"
  )

  public init(_ arguments: Arguments) {}

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    [
      .matrix(PhotoLook.saturation(0.95)),
      .colorKernel(
        ToneKernel(
          red: ToneKernel.Curve(0, 0.6, 1.0, -0.65), green: ToneKernel.Curve(0.02, 0.8, 0.6, -0.42),
          blue: ToneKernel.Curve(0.14, 0.9, -0.2, 0.06))),
    ]
  }
}
