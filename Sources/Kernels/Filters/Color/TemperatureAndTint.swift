/// Changes the light that the picture seems to be taken in.
struct TemperatureAndTint: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "temperatureAndTint",
    summary: "Adapts the white point of the picture, by colour temperature and tint.",
    category: .color, reach: .pixel, fidelity: .modelled,
    formula: """
      Chromatic adaptation (Bradford) from the white of neutral to that of targetNeutral; its gains \
      are raised to 1/2.2, because colour is gamma-encoded. A white is Planck's at the temperature \
      (Krystek 1985), moved by tint / 3000 in v of CIE 1960 across the locus, up to green. \
      Temperatures are limited to 1000 ... 40000 K. Equal whites change nothing; 5500 to 6500 cools, \
      although guides call it warm
      """,
    parameters: [
      ParameterDescription(
        "neutral", .vector(count: 2), default: .vector([6500, 0]), slider: 2000 ... 10000,
        limits: -1000 ... 100_000, unit: .kelvin,
        "The white that the picture has: temperature in kelvin, and tint."),
      ParameterDescription(
        "targetNeutral", .vector(count: 2), default: .vector([6500, 0]), slider: 2000 ... 10000,
        limits: -1000 ... 100_000, unit: .kelvin,
        "The white that the picture is to have: temperature in kelvin, and tint."),
    ])

  private let neutral: WhitePoint
  private let target: WhitePoint

  /// Reads the settings.
  init(_ arguments: Arguments) {
    func white(_ name: String) -> WhitePoint {
      let vector = arguments.vector(name)
      return WhitePoint(kelvin: vector[0], tint: vector[1])
    }
    self.init(from: white("neutral"), to: white("targetNeutral"))
  }

  /// Adapts from one white to another.
  init(from neutral: WhitePoint, to target: WhitePoint) {
    self.neutral = neutral
    self.target = target
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    guard self.neutral != self.target else { return [] }
    return [.matrix(self.neutral.adaptation(to: self.target))]
  }
}
