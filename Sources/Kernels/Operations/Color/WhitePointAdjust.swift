/// Makes white another colour, and all others with it.
struct WhitePointAdjust: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "whitePointAdjust",
    summary: "Maps white to the given colour, and all colours with it.",
    category: .color, reach: .pixel, fidelity: .modelled,
    formula: "rgb' = rgb * color, channel by channel; the colour's alpha does not count",
    parameters: [
      ParameterDescription(
        "color", .color, default: .color(Color(red: 1, green: 1, blue: 1)), slider: 0 ... 1,
        "What white becomes; white changes nothing.")
    ])

  private let color: Color

  /// Reads the settings.
  init(_ arguments: Arguments) {
    self.color = arguments.color("color")
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    [.matrix(.scaling([self.color.red, self.color.green, self.color.blue]))]
  }
}
