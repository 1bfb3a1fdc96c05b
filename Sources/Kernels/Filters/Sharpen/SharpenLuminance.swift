/// Sharpens luma and leaves colours alone.
struct SharpenLuminance: CatalogueFilter {
  static let description = FilterDescription(
    name: "sharpenLuminance",
    summary: "Increases detail by sharpening; colours stay.",
    category: .sharpen, reach: .neighborhood, fidelity: .modelled,
    formula: """
      rgb' = rgb + sharpness * (Y - blur(Y)), Y = .2126 r + .7152 g + .0722 b (the frame's own luma \
      in YUV formats, whose chroma stays as it is), blur the Gaussian of standard deviation radius. \
      Edges are clamped; sharpness 0 changes nothing
      """,
    parameters: [
      ParameterDescription(
        "sharpness", .number, default: .number(0.4), slider: 0 ... 2, limits: -64 ... 64,
        "How much of the detail is added; 0 changes nothing."),
      ParameterDescription(
        "radius", .length, default: .number(1.69), slider: 0 ... 20, limits: 0 ... 1024,
        unit: .pixels, "The standard deviation of the blur that tells detail from the rest."),
    ])

  private let sharpness: Double
  private let radius: Length

  init(_ arguments: Arguments) {
    self.sharpness = arguments.number("sharpness")
    self.radius = arguments.length("radius")
  }

  func nodes(for geometry: FrameGeometry) -> [Node] {
    let sigma = min(self.radius.pixels(in: geometry.size), 1024)
    guard sigma >= GaussianBlurOperation.leastSigma, self.sharpness != 0 else { return [] }
    return [Node(.neighborhood(LumaSharpenOperation(sigma: sigma, gain: self.sharpness)))]
  }
}
