/// A glow of highlights.
struct Bloom: CatalogueFilter {
  static let description = FilterDescription(
    name: "bloom",
    summary: "Softens edges and gives highlights a glow.",
    category: .stylize, reach: .neighborhood, fidelity: .modelled,
    formula: """
      in + intensity * max(0, blur(in) - in), blur the Gaussian of standard deviation radius: \
      never darker, and flat areas do not change. Computed for each channel of RGB and grey \
      formats; in YUV formats by luma, and chroma moves towards its own blur, in proportion up to \
      a difference of 16 levels of luma. border sets the pixels beyond the edges. Alpha is a \
      channel like the others
      """,
    parameters: [
      ParameterDescription(
        "radius", .length, default: .number(10), slider: 0 ... 100, limits: 0 ... 1024,
        unit: .pixels, "The standard deviation of the blur."),
      ParameterDescription(
        "intensity", .number, default: .number(0.5), slider: 0 ... 1, limits: -8 ... 8,
        "The strength of the glow; 0 changes nothing."),
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

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let sigma = min(self.radius.pixels(in: geometry.size), 1024)
    guard sigma >= GaussianBlurOperation.leastSigma, self.intensity != 0 else { return [] }
    return self.border.nodes(for: geometry) { _, _ in
      [
        FilterNode(.neighborhood(BlurredMixOperation(sigma: sigma, up: self.intensity, down: 0)))
      ]
    }
  }
}

/// A reduction of highlights.
struct Gloom: CatalogueFilter {
  static let description = FilterDescription(
    name: "gloom",
    summary: "Dulls the highlights of the picture.",
    category: .stylize, reach: .neighborhood, fidelity: .modelled,
    formula: """
      in + intensity * min(0, blur(in) - in), blur the Gaussian of standard deviation radius: \
      never brighter, and flat areas do not change. Computed for each channel of RGB and grey \
      formats; in YUV formats by luma, and chroma moves towards its own blur, in proportion up to \
      a difference of 16 levels of luma. border sets the pixels beyond the edges. Alpha is a \
      channel like the others
      """,
    parameters: [
      ParameterDescription(
        "radius", .length, default: .number(10), slider: 0 ... 100, limits: 0 ... 1024,
        unit: .pixels, "The standard deviation of the blur."),
      ParameterDescription(
        "intensity", .number, default: .number(0.5), slider: 0 ... 1, limits: -8 ... 8,
        "The strength; 0 changes nothing."),
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

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let sigma = min(self.radius.pixels(in: geometry.size), 1024)
    guard sigma >= GaussianBlurOperation.leastSigma, self.intensity != 0 else { return [] }
    return self.border.nodes(for: geometry) { _, _ in
      [
        FilterNode(.neighborhood(BlurredMixOperation(sigma: sigma, up: 0, down: self.intensity)))
      ]
    }
  }
}
