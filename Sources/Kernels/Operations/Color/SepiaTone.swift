/// A mix of the picture with a brown monochrome.
struct SepiaTone: CatalogueFilter {
  static let description = FilterDescription(
    name: "sepiaTone",
    summary: "Maps the colours to shades of reddish brown.",
    category: .color, reach: .pixel, fidelity: .modelled, isCoreImage: true,
    keywords: "old vintage photo",
    examples: ["sepiaTone", "sepiaTone(intensity: 0.8)"],
    formula: """
      rgb' = rgb + intensity * (S rgb - rgb), S = [.3588 .7044 .1368; .2990 .5870 .1140; \
      .2392 .4696 .0912]: BT.601 luma times (1.2, 1, .8)
      """,
    parameters: [
      ParameterDescription(
        "intensity", .number, default: .number(1), slider: 0 ... 1, limits: -8 ... 8,
        "The weight of the sepia colours; 0 changes nothing.")
    ])

  private let intensity: Double

  init(_ arguments: Arguments) {
    self.intensity = arguments.number("intensity")
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let sepia = ColorMatrix(
      red: [0.3588, 0.7044, 0.1368, 0],
      green: [0.2990, 0.5870, 0.1140, 0],
      blue: [0.2392, 0.4696, 0.0912, 0])
    return [.matrix(sepia.mixed(self.intensity))]
  }
}
