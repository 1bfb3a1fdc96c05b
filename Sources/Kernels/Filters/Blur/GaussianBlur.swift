/// Spreads each pixel by a Gaussian.
struct GaussianBlur: CatalogueFilter {
  static let description = FilterDescription(
    name: "gaussianBlur",
    summary: "Spreads pixels by a Gaussian distribution.",
    category: .blur, reach: .neighborhood, fidelity: .formula,
    formula: """
      The convolution with exp(-(x^2 + y^2) / (2 radius^2)), normalised: radius is the standard \
      deviation. Edges are clamped; alpha is blurred with premultiplied colour. Below .16 nothing \
      changes
      """,
    parameters: [
      ParameterDescription(
        "radius", .length, default: .number(10), slider: 0 ... 100, limits: 0 ... 1024,
        unit: .pixels, "The standard deviation.")
    ])

  private let radius: Length

  init(_ arguments: Arguments) {
    self.radius = arguments.length("radius")
  }

  func nodes(for geometry: FrameGeometry) -> [Node] {
    let sigma = min(self.radius.pixels(in: geometry.size), 1024)
    return sigma < GaussianBlurOperation.leastSigma ? [] : [.gaussianBlur(sigma: sigma)]
  }
}
