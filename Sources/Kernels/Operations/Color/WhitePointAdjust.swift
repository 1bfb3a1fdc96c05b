/// A multiplication by a colour, which maps white to it.
struct WhitePointAdjust: CatalogueFilter {
  static let description = FilterDescription(
    name: "whitePointAdjust",
    summary: "Maps white to the given colour, and other colours in proportion.",
    category: .color, reach: .pixel, fidelity: .modelled, isCoreImage: true,
    examples: ["whitePointAdjust(color: #ffd0a0)"],
    formula: "rgb' = rgb * color, channel by channel; the alpha of color is ignored",
    parameters: [
      ParameterDescription(
        "color", .color, default: .color(RGBAColor(red: 1, green: 1, blue: 1)), slider: 0 ... 1,
        "The colour that white becomes; white changes nothing.")
    ])

  private let color: RGBAColor

  init(_ arguments: Arguments) {
    self.color = arguments.color("color")
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [.matrix(.scaling([self.color.red, self.color.green, self.color.blue]))]
  }
}
