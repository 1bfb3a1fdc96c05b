/// Brightens or darkens the middle tones.
struct GammaAdjust: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "gammaAdjust",
    summary: "Raises each channel to a power.",
    category: .color, reach: .pixel, fidelity: .formula,
    formula: "c' = c^power for each of r, g, b; negative values keep their sign",
    parameters: [
      ParameterDescription(
        "power", .number, default: .number(1), slider: 0.25 ... 4, limits: 0.01 ... 16,
        "The exponent; 1 changes nothing, more darkens.")
    ])

  private let power: Double

  /// Reads the settings.
  init(_ arguments: Arguments) {
    self.power = arguments.number("power")
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    self.power == 1 ? [] : [.curve(.power(self.power))]
  }
}
