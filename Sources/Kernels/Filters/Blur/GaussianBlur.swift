/// Spreads each pixel by a Gaussian.
struct GaussianBlur: CatalogueFilter {
  static let description = FilterDescription(
    name: "gaussianBlur",
    summary: "Spreads pixels by a Gaussian distribution.",
    category: .blur, reach: .neighborhood, fidelity: .formula,
    formula: """
      The convolution with exp(-(x^2 + y^2) / (2 radius^2)), normalised: radius is the standard \
      deviation. Beyond the edges lies border; alpha is blurred with premultiplied colour. Below .16 nothing \
      changes
      """,
    parameters: [
      ParameterDescription(
        "radius", .length, default: .number(10), slider: 0 ... 100, limits: 0 ... 1024,
        unit: .pixels, "The standard deviation."),
      Border.parameter,
    ])

  private let radius: Length
  private let border: Border

  init(_ arguments: Arguments) {
    self.radius = arguments.length("radius")
    self.border = Border(arguments)
  }

  func nodes(for geometry: FrameGeometry) -> [Node] {
    let sigma = min(self.radius.pixels(in: geometry.size), 1024)
    guard sigma >= GaussianBlurOperation.leastSigma else { return [] }
    return self.border.nodes(for: geometry) { _, _ in [.gaussianBlur(sigma: sigma)] }
  }
}
