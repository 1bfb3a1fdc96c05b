/// A vintage look: a change of the white point, a vignette and grain.
///
/// The combination follows common guides to Core Image. ``Vintage`` uses the guides' temperatures,
/// which cool the picture although the guides call the look warm; ``VintageWarm`` exchanges them.
struct Vintage: CatalogueFilter {
  static let description = VintageLook.description(
    "vintage", "A vintage look: cooler, with dark corners and grain.", from: 5500, to: 6500)

  init(_ arguments: Arguments) {}

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    VintageLook.nodes(for: geometry, from: 5500, to: 6500)
  }
}

/// The vintage look with warmer light.
struct VintageWarm: CatalogueFilter {
  static let description = VintageLook.description(
    "vintageWarm", "A vintage look: warmer, with dark corners and grain.", from: 6500, to: 5500)

  init(_ arguments: Arguments) {}

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    VintageLook.nodes(for: geometry, from: 6500, to: 5500)
  }
}

/// The common part of both looks.
private enum VintageLook {
  static func description(
    _ name: String, _ summary: String, from neutral: Int, to target: Int
  ) -> FilterDescription {
    FilterDescription(
      name: name, summary: summary, category: .effect, reach: .pixel, fidelity: .formula,
      formula: """
        temperatureAndTint(neutral: (\(neutral), 0), targetNeutral: (\(target), 0)), then \
        vignette(intensity: 1.2, radius: 2), then grain(amount: .03); opaque pictures stay opaque
        """)
  }

  static func nodes(
    for geometry: FrameGeometry, from neutral: Double, to target: Double
  ) -> [FilterNode] {
    let light = WhitePoint(kelvin: neutral, tint: 0)
      .adaptation(to: WhitePoint(kelvin: target, tint: 0))
    return [.matrix(light)]
      + Vignette(arguments: Arguments(values: ["intensity": .number(1.2), "radius": .number(2)]))
      .nodes(for: geometry)
      + [.field(.grain(amount: 0.03, seed: 0))]
  }
}
