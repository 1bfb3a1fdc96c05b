/// A pencil drawing.
struct Sketch: ArgumentFilter {
  static let description = FilterDescription(
    name: "sketch",
    summary: "Draws the picture with a pencil: dark lines and soft shading on white paper.",
    category: .stylize, reach: .neighborhood, fidelity: .formula,
    keywords: "drawing draw",
    formula: """
      1 - shade + shade * Y + strength * (Y - blur(Y)) in all channels, Y = .2126 r + .7152 g + .0722 \
      b, blur the Gaussian of standard deviation radius with clamped edges. Colour is multiplied by \
      alpha, alpha is kept
      """,
    parameters: [
      ParameterDescription(
        "radius", .length, default: .number(4), slider: 1 ... 20, limits: 0.2 ... 1024,
        unit: .pixels, "The standard deviation of the blur: the width of lines."),
      ParameterDescription(
        "strength", .number, default: .number(4), slider: 0 ... 10, limits: 0 ... 16,
        "The darkness of lines."),
      ParameterDescription(
        "shade", .number, default: .number(0.3), slider: 0.05 ... 1, limits: 0.05 ... 1,
        "The share of the picture's own tones."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let strength = self.arguments.number("strength")
    let shade = self.arguments.number("shade")
    let sigma = min(max(self.arguments.length("radius").pixels(in: geometry.size), 0.2), 1024)
    // The paper comes first, to give lines the whole range below it. Its tones are shade times the
    // picture's tones, and so is the difference from their blur.
    var paper = ColorMatrix.monochrome(SIMD3(0.2126, 0.7152, 0.0722) * shade)
    paper.bias = SIMD4(SIMD3(repeating: 1 - shade), 0)
    guard strength > 0 else { return [.matrix(paper)] }
    let lines = LumaSharpenOperation(sigma: sigma, gain: strength / shade)
    return [.matrix(paper), FilterNode(.neighborhood(lines))]
  }
}
