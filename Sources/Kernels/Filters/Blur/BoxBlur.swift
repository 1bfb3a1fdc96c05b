/// The mean over a square about each pixel.
struct BoxBlur: CatalogueFilter {
  static let description = FilterDescription(
    name: "boxBlur",
    summary: "Spreads pixels evenly over a square.",
    category: .blur, reach: .neighborhood, fidelity: .formula,
    formula: """
      The mean over the square of side 2 radius + 1 about the pixel; pixels that it covers in part \
      count in part. Beyond the edges lies border; alpha is blurred with premultiplied colour. 0 changes nothing
      """,
    parameters: [
      ParameterDescription(
        "radius", .length, default: .number(10), slider: 1 ... 100, limits: 0 ... 1024,
        unit: .pixels, "How far the square reaches beyond the pixel."),
      Border.parameter,
    ])

  private let radius: Length
  private let border: Border

  init(_ arguments: Arguments) {
    self.radius = arguments.length("radius")
    self.border = Border(arguments)
  }

  func nodes(for geometry: FrameGeometry) -> [Node] {
    let radius = min(self.radius.pixels(in: geometry.size), 1024)
    guard radius > 0 else { return [] }
    return self.border.nodes(for: geometry) { _, _ in
      [Node(.neighborhood(BoxBlurOperation(radius: radius)))]
    }
  }
}
