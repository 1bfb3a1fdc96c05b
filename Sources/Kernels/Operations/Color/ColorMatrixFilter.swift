/// Any affine map of colour and alpha.
struct ColorMatrixFilter: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "colorMatrix",
    summary: "Multiplies the colours by vectors and adds a bias.",
    category: .color, reach: .pixel, fidelity: .formula,
    formula: """
      r' = dot((r, g, b, a), rVector) + biasVector.r, and so on; straight alpha, whose result is \
      clamped. Where a picture is opaque, a is 1 and stays
      """,
    parameters: [
      Self.vector("rVector", [1, 0, 0, 0], "The weights of r, g, b, a in the resulting red."),
      Self.vector("gVector", [0, 1, 0, 0], "The weights of r, g, b, a in the resulting green."),
      Self.vector("bVector", [0, 0, 1, 0], "The weights of r, g, b, a in the resulting blue."),
      Self.vector("aVector", [0, 0, 0, 1], "The weights of r, g, b, a in the resulting alpha."),
      Self.vector("biasVector", [0, 0, 0, 0], "What is added to r, g, b, a."),
    ])

  private let matrix: ColorMatrix

  /// Reads the settings.
  init(_ arguments: Arguments) {
    func row(_ name: String) -> SIMD4<Double> { SIMD4(arguments.vector(name)) }
    self.matrix = ColorMatrix(
      red: row("rVector"), green: row("gVector"), blue: row("bVector"), alpha: row("aVector"),
      bias: row("biasVector"))
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    let isOpaque = !geometry.format.hasAlpha || geometry.color.alpha == .opaque
    if isOpaque || self.matrix.keepsAlpha { return [.matrix(self.matrix)] }
    // Alpha beyond 0 ... 1 means nothing, and colour that is multiplied by it would be wrong.
    let clamp = StripKernel { pixel, _, _, _ in
      [pixel.x, pixel.y, pixel.z, min(max(pixel.w, 0), 1)]
    } apply: { strip in
      for index in 0 ..< strip.count {
        unsafe strip.alpha[index] = min(max(strip.alpha[index], 0), 1)
      }
    }
    return [.matrix(self.matrix), Node(.kernel(clamp))]
  }

  private static func vector(
    _ name: String, _ value: [Double], _ summary: String
  ) -> ParameterDescription {
    ParameterDescription(
      name, .vector(count: 4), default: .vector(value), slider: -2 ... 2, limits: -64 ... 64,
      summary)
  }
}
