/// A power function of colour channels.
struct GammaAdjust: ArgumentFilter {
  static let description = FilterDescription(
    name: "gammaAdjust",
    summary: "Raises each channel to a power.",
    category: .color, reach: .pixel, fidelity: .formula, isCoreImage: true,
    keywords: "brighter darker midtones brightness",
    examples: ["gammaAdjust(power: 0.6)", "gammaAdjust(power: 1.8)"],
    formula: "c' = c^power for each of r, g, b; negative values keep their sign",
    parameters: [
      ParameterDescription(
        "power", .number, default: .number(1), slider: 0.25 ... 4, limits: 0.01 ... 16,
        "The exponent; 1 changes nothing, greater values darken.")
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let power = self.arguments.number("power")
    return power == 1 ? [] : [.curve(.power(power))]
  }
}
