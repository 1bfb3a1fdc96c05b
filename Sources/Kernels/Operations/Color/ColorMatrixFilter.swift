/// An affine map of colour and alpha.
struct ColorMatrixFilter: CatalogueFilter {
  static let description = FilterDescription(
    name: "colorMatrix",
    summary: "Multiplies the colours by vectors and adds a bias.",
    category: .color, reach: .pixel, fidelity: .formula, isCoreImage: true,
    keywords: "channels swap mix",
    examples: ["colorMatrix(rVector: [0, 1, 0, 0], gVector: [0, 0, 1, 0], bVector: [1, 0, 0, 0])"],
    formula: """
      r' = dot((r, g, b, a), rVector) + biasVector.r, and so on; straight alpha, the resulting \
      alpha clamped. In opaque pictures a is 1 and does not change
      """,
    parameters: [
      Self.vector("rVector", [1, 0, 0, 0], "The weights of r, g, b, a in the resulting red."),
      Self.vector("gVector", [0, 1, 0, 0], "The weights of r, g, b, a in the resulting green."),
      Self.vector("bVector", [0, 0, 1, 0], "The weights of r, g, b, a in the resulting blue."),
      Self.vector("aVector", [0, 0, 0, 1], "The weights of r, g, b, a in the resulting alpha."),
      Self.vector("biasVector", [0, 0, 0, 0], "The amounts added to r, g, b, a."),
    ])

  private let matrix: ColorMatrix

  init(_ arguments: Arguments) {
    func row(_ name: String) -> SIMD4<Double> { SIMD4(arguments.vector(name)) }
    self.matrix = ColorMatrix(
      red: row("rVector"), green: row("gVector"), blue: row("bVector"), alpha: row("aVector"),
      bias: row("biasVector"))
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    if geometry.isOpaque || self.matrix.keepsAlpha { return [.matrix(self.matrix)] }
    // Alpha outside 0 ... 1 is meaningless, and premultiplied colour would be wrong.
    let clamp = StripKernel { pixel, _, _, _ in
      [pixel.x, pixel.y, pixel.z, min(max(pixel.w, 0), 1)]
    } apply: { strip in
      for index in 0 ..< strip.count {
        unsafe strip.alpha[index] = min(max(strip.alpha[index], 0), 1)
      }
    }
    return [.matrix(self.matrix), FilterNode(.kernel(clamp))]
  }

  private static func vector(
    _ name: String, _ value: [Double], _ summary: String
  ) -> ParameterDescription {
    ParameterDescription(
      name, .vector(count: 4), default: .vector(value), slider: -2 ... 2, limits: -64 ... 64,
      summary)
  }
}
