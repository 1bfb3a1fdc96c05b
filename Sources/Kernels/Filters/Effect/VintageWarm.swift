/// An old photograph: warm whites, dark corners, grain.
public struct VintageWarm: CatalogueFilter {
  public static let description = FilterDescription(
    name: "vintageWarm",
    summary: "The look of an old photograph, warm.",
    category: .effect, reach: .pixel, fidelity: .modelled,
    formula: """
      temperatureAndTint from 6500 to 5500, then vignette with intensity 1.2 and radius 2, then grain \
      of .03
      """)

  public init(_ arguments: Arguments) {}

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    TemperatureAndTint(from: 6500, to: 5500).nodes(for: geometry)
      + Vignette(intensity: 1.2, radius: 2).nodes(for: geometry)
      + Grain(amount: 0.03).nodes(for: geometry)
  }
}
