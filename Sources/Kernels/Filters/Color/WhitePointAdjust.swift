/// Makes white another colour, and all colours with it.
public struct WhitePointAdjust: CatalogueFilter {
  public static let description = FilterDescription(
    name: "whitePointAdjust",
    summary: "Maps white to a colour.",
    category: .color, reach: .pixel, fidelity: .modelled,
    formula: "rgb' = rgb * color",
    parameters: [
      ParameterDescription(
        "color", .color, default: .color(Color(red: 1, green: 1, blue: 1)),
        "What white becomes; white changes nothing.")
    ])

  private let color: Color

  public init(_ arguments: Arguments) {
    self.color = arguments.color("color")
  }

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    [.matrix(.scaling(SIMD3(self.color.red, self.color.green, self.color.blue)))]
  }
}
