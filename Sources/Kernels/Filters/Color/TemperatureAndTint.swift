/// Adapts the picture from one white to another.
public struct TemperatureAndTint: CatalogueFilter {
  public static let description = FilterDescription(
    name: "temperatureAndTint",
    summary: "Adapts the colours from a source white to a target white.",
    category: .color, reach: .pixel, fidelity: .modelled,
    formula: """
      rgb' = D M rgb. M is the Bradford adaptation in linear sRGB from neutral's white to \
      targetNeutral's, both on the Planckian locus (Kim et al. 2002) and shifted across it by \
      tint / 3000 in CIE 1960 uv, magenta for positive tints; D scales the rows so that white \
      becomes the encoded M (1, 1, 1). 5500 to 6500 cools, although guides call it warm
      """,
    parameters: [
      Self.white("neutral", "The source white: temperature in kelvin, and tint."),
      Self.white("targetNeutral", "The target white: temperature in kelvin, and tint."),
    ])

  private let neutral: [Double]
  private let targetNeutral: [Double]

  public init(_ arguments: Arguments) {
    self.neutral = arguments.vector("neutral")
    self.targetNeutral = arguments.vector("targetNeutral")
  }

  /// An adaptation between two temperatures, without tint.
  init(from neutral: Double, to target: Double) {
    self.neutral = [neutral, 0]
    self.targetNeutral = [target, 0]
  }

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    guard self.neutral != self.targetNeutral else { return [] }
    let linear = WhitePoint(kelvin: self.neutral[0], tint: self.neutral[1])
      .adaptation(to: WhitePoint(kelvin: self.targetNeutral[0], tint: self.targetNeutral[1]))
    func row(_ row: SIMD3<Double>) -> SIMD4<Double> {
      let white = row.sum()
      // Encoded values answer to gains less than light does.
      let gain = white > 0 ? ToneCurve.encoded(white) / white : 0
      return SIMD4(row * gain, 0)
    }
    return [.matrix(ColorMatrix(red: row(linear.0), green: row(linear.1), blue: row(linear.2)))]
  }

  private static func white(_ name: String, _ summary: String) -> ParameterDescription {
    ParameterDescription(
      name, .vector(count: 2), default: .vector([6500, 0]), limits: -1000 ... 40000, unit: .kelvin,
      summary)
  }
}
