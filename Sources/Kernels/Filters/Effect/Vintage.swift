/// An old photograph: cool whites, dark corners, grain.
public struct Vintage: CatalogueFilter {
  public static let description = FilterDescription(
    name: "vintage",
    summary: "The look of an old photograph, cool.",
    category: .effect, reach: .pixel, fidelity: .modelled,
    formula: """
      temperatureAndTint from 5500 to 6500, then vignette with intensity 1.2 and radius 2, then grain \
      of .03
      """)

  public init(_ arguments: Arguments) {}

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    TemperatureAndTint(from: 5500, to: 6500).nodes(for: geometry)
      + Vignette(intensity: 1.2, radius: 2).nodes(for: geometry)
      + Grain(amount: 0.03).nodes(for: geometry)
  }
}
