#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A rotation of colours about the axis of greys.
struct HueAdjust: CatalogueFilter {
  static let description = FilterDescription(
    name: "hueAdjust",
    summary: "Rotates the hue of all colours by an angle.",
    category: .color, reach: .pixel, fidelity: .formula, isCoreImage: true,
    examples: ["hueAdjust(angle: 1)", "hueAdjust(angle: 3.141592653589793)"],
    formula: """
      rgb' = R rgb, the rotation by angle about (1, 1, 1) (Rodrigues): cos I + (1 - cos)/3 J + \
      sin/sqrt(3) K; red turns towards yellow. At pi: -1/3 on the diagonal, 2/3 elsewhere. Greys \
      do not change
      """,
    parameters: [
      ParameterDescription(
        "angle", .number, default: .number(0), slider: -3.141592653589793 ... 3.141592653589793,
        limits: -1000 ... 1000, unit: .radians, "The angle; 0 changes nothing.")
    ])

  private let angle: Double

  init(_ arguments: Arguments) {
    self.angle = arguments.number("angle")
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    guard self.angle != 0 else { return [] }
    let (cosine, sine) = (cos(self.angle), sin(self.angle))
    let even = (1 - cosine) / 3
    let odd = sine / 3.0.squareRoot()
    return [
      .matrix(
        ColorMatrix(
          red: [cosine + even, even - odd, even + odd, 0],
          green: [even + odd, cosine + even, even - odd, 0],
          blue: [even - odd, even + odd, cosine + even, 0]))
    ]
  }
}
