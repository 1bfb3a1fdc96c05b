/// Makes edges stand out by what a blur takes from them.
struct UnsharpMask: CatalogueFilter {
  static let description = FilterDescription(
    name: "unsharpMask",
    summary: "Increases the contrast of edges.",
    category: .sharpen, reach: .neighborhood, fidelity: .formula,
    formula: """
      in + intensity * (in - blur(in)), blur the Gaussian of standard deviation radius. Beyond the edges \
      lies border; colour is premultiplied, alpha kept within 0 ... 1 and colour \
      within -1 ... 2 where there is alpha. Intensity 0 changes nothing
      """,
    parameters: [
      ParameterDescription(
        "radius", .length, default: .number(2.5), slider: 0 ... 100, limits: 0 ... 1024,
        unit: .pixels, "The standard deviation of the blur."),
      ParameterDescription(
        "intensity", .number, default: .number(0.5), slider: 0 ... 1, limits: -64 ... 64,
        "How much of the difference is added; 0 changes nothing."),
      Border.parameter,
    ])

  private let radius: Length
  private let intensity: Double
  private let border: Border

  init(_ arguments: Arguments) {
    self.radius = arguments.length("radius")
    self.intensity = arguments.number("intensity")
    self.border = Border(arguments)
  }

  func nodes(for geometry: FrameGeometry) -> [Node] {
    let sigma = min(self.radius.pixels(in: geometry.size), 1024)
    guard sigma >= GaussianBlurOperation.leastSigma, self.intensity != 0 else { return [] }
    return self.border.nodes(for: geometry) { _, _ in
      [
        Node(
          .neighborhood(
            BlurLeanOperation(sigma: sigma, up: -self.intensity, down: -self.intensity)))
      ]
    }
  }
}
