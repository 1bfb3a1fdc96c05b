/// Makes the picture blocky.
struct Pixellate: CatalogueFilter {
  static let description = FilterDescription(
    name: "pixellate",
    summary: "Maps the picture to coloured squares.",
    category: .stylize, reach: .neighborhood, fidelity: .formula,
    formula: """
      Each pixel becomes the mean of its square, rounded to nearest; four squares meet at center. \
      Luma and chroma are averaged on their own planes; with alpha, premultiplied colour is
      """,
    parameters: [
      ParameterDescription(
        "center", .point, default: .point(.center), "Where four squares meet."),
      ParameterDescription(
        "scale", .length, default: .number(8), slider: 1 ... 100, limits: 1 ... 16384,
        unit: .pixels, "A square's side; 1 changes nothing."),
    ])

  private let center: Point
  private let scale: Length

  init(_ arguments: Arguments) {
    self.center = arguments.point("center")
    self.scale = arguments.length("scale")
  }

  func nodes(for geometry: FrameGeometry) -> [Node] {
    let size = geometry.size
    let scale = min(max(self.scale.pixels(in: size), 1), 16384)
    guard scale > 1 else { return [] }
    let center = (x: self.center.x.pixels(in: size), y: self.center.y.pixels(in: size))
    return [.pixellate(center: center, scale: scale)]
  }
}
