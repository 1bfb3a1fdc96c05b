import SidelightServer

/// A filter with parameters: it has a description, reads its arguments, and returns nodes. An
/// affine map of colour folds with the maps of its neighbours, at no additional cost.
struct Tint: CatalogueFilter {
  static let description = FilterDescription(
    name: "tint", summary: "Mixes the picture with a colour.",
    category: .custom, reach: .pixel, fidelity: .custom,
    formula: "rgb' = rgb + amount * (color - rgb)",
    parameters: [
      ParameterDescription(
        "color", .color, default: .color(RGBAColor(red: 1, green: 0.5, blue: 0)), "The colour."),
      ParameterDescription(
        "amount", .number, default: .number(0.25), slider: 0 ... 1, limits: 0 ... 1,
        "The amount; 0 changes nothing."),
    ])

  private let color: RGBAColor
  private let amount: Double

  init(_ arguments: Arguments) {
    self.color = arguments.color("color")
    self.amount = arguments.number("amount")
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    guard self.amount > 0 else { return [] }
    let flat = ColorMatrix(
      red: .zero, green: .zero, blue: .zero,
      bias: [self.color.red, self.color.green, self.color.blue, 0])
    return [.matrix(flat.mixed(self.amount))]
  }
}
