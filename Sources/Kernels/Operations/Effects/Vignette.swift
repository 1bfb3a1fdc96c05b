/// Brightness that falls off towards the corners.
struct Vignette: ArgumentFilter {
  static let description = FilterDescription(
    name: "vignette",
    summary: "Reduces the brightness of the picture's periphery.",
    category: .effect, reach: .pixel, fidelity: .modelled, isCoreImage: true,
    keywords: "dark corners",
    examples: ["vignette(intensity: 1)"],
    formula: """
      rgb' = rgb * max(0, 1 + intensity * (v - 1)), v = 1 / (1 + (d / radius)^2)^2, d the distance \
      from the centre in half diagonals: the cos^4 law of natural vignetting
      """,
    parameters: [
      ParameterDescription(
        "intensity", .number, default: .number(1), slider: -1 ... 1, limits: -8 ... 8,
        "The strength; 0, Core Image's default, changes nothing, negative values brighten."),
      ParameterDescription(
        "radius", .number, default: .number(1), slider: 0 ... 2, limits: 0 ... 1000,
        "The distance in half diagonals from the centre at which a quarter of the light is left."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let intensity = self.arguments.number("intensity")
    guard intensity != 0 else { return [] }
    let (width, height) = (Double(geometry.size.width), Double(geometry.size.height))
    // In units of the radius, squared. A radius of 0 darkens all but the centre.
    let radius =
      max(self.arguments.number("radius"), 1e-3) * (width * width + height * height).squareRoot()
      / 2
    let scale = 1 / (radius * radius)
    return [
      .field(
        .smooth { x, y in
          let (dx, dy) = (x - width / 2, y - height / 2)
          let falloff = 1 + (dx * dx + dy * dy) * scale
          return max(0, 1 + intensity * (1 / (falloff * falloff) - 1))
        })
    ]
  }
}
