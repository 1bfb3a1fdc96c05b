/// Makes each channel a weighted sum of the channels.
public struct ColorMatrixFilter: CatalogueFilter {
  public static let description = FilterDescription(
    name: "colorMatrix",
    summary: "Multiplies the colour by a matrix and adds a bias.",
    category: .color, reach: .pixel, fidelity: .formula,
    formula: """
      r' = rVector . (r, g, b, a) + bias.r, and so for g, b and a; on straight colour. Opaque \
      pictures stay opaque
      """,
    parameters: [
      Self.vector("rVector", [1, 0, 0, 0], "The weights of r, g, b, a in the resulting red."),
      Self.vector("gVector", [0, 1, 0, 0], "The weights in the resulting green."),
      Self.vector("bVector", [0, 0, 1, 0], "The weights in the resulting blue."),
      Self.vector("aVector", [0, 0, 0, 1], "The weights in the resulting alpha."),
      Self.vector("biasVector", [0, 0, 0, 0], "What is added to r, g, b, a."),
    ])

  private let matrix: ColorMatrix

  public init(_ arguments: Arguments) {
    func row(_ name: String) -> SIMD4<Double> { SIMD4(arguments.vector(name)) }
    self.matrix = ColorMatrix(
      red: row("rVector"), green: row("gVector"), blue: row("bVector"), alpha: row("aVector"),
      bias: row("biasVector"))
  }

  public func nodes(for geometry: FrameGeometry) -> [Node] { [.matrix(self.matrix)] }

  private static func vector(
    _ name: String, _ value: [Double], _ summary: String
  ) -> ParameterDescription {
    ParameterDescription(
      name, .vector(count: 4), default: .vector(value), slider: -2 ... 2, limits: -64 ... 64,
      summary)
  }
}
