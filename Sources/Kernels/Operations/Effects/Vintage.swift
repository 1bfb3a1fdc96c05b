/// The guides' vintage look, which they call warm and which cools.
struct Vintage: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "vintage",
    summary: "A vintage look: cooler, with dark corners and grain.",
    category: .effect, reach: .pixel, fidelity: .formula,
    formula: """
      temperatureAndTint(neutral: (5500, 0), targetNeutral: (6500, 0)), then vignette(intensity: 1.2, \
      radius: 2), then grain(amount: .03); opaque stays opaque
      """)

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    let light = TemperatureAndTint(
      from: WhitePoint(kelvin: 5500, tint: 0), to: WhitePoint(kelvin: 6500, tint: 0))
    return light.nodes(for: geometry)
      + Vignette(intensity: 1.2, radius: 2).nodes(for: geometry)
      + Grain(amount: 0.03).nodes(for: geometry)
  }
}

/// The vintage look, with light that really is warmer.
struct VintageWarm: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "vintageWarm",
    summary: "A vintage look: warmer, with dark corners and grain.",
    category: .effect, reach: .pixel, fidelity: .formula,
    formula: """
      temperatureAndTint(neutral: (6500, 0), targetNeutral: (5500, 0)), then vignette(intensity: 1.2, \
      radius: 2), then grain(amount: .03); opaque stays opaque
      """)

  /// Reads the settings.
  init(_ arguments: Arguments) {}

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    let light = TemperatureAndTint(
      from: WhitePoint(kelvin: 6500, tint: 0), to: WhitePoint(kelvin: 5500, tint: 0))
    return light.nodes(for: geometry)
      + Vignette(intensity: 1.2, radius: 2).nodes(for: geometry)
      + Grain(amount: 0.03).nodes(for: geometry)
  }
}
