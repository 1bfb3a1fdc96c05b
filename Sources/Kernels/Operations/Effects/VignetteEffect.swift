/// A change of brightness outside a circle.
struct VignetteEffect: ArgumentFilter {
  static let description = FilterDescription(
    name: "vignetteEffect",
    summary: "Changes the brightness outside a circle.",
    category: .effect, reach: .pixel, fidelity: .modelled, isCoreImage: true,
    keywords: "dark corners spotlight",
    examples: ["vignetteEffect(radius: 0.375h)"],
    formula: """
      rgb' = rgb * max(0, 1 - intensity * smoothstep(radius * (1 - falloff), radius * (1 + \
      falloff), d)), d the distance from center in pixels. The step is at least a pixel wide
      """,
    parameters: [
      ParameterDescription(
        "center", .point, default: .point(.center), "The centre of the circle."),
      ParameterDescription(
        "radius", .length, default: .number(150), slider: 0 ... 2000, limits: 0 ... 65536,
        unit: .pixels, "The radius at which half of the effect is reached."),
      ParameterDescription(
        "intensity", .number, default: .number(1), slider: -1 ... 1, limits: -8 ... 8,
        "The strength outside the circle; 0 changes nothing, negative values brighten."),
      ParameterDescription(
        "falloff", .number, default: .number(0.5), slider: 0 ... 1, limits: 0 ... 1,
        "The width of the step: 0 is a hard edge, 1 begins at the centre."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let intensity = self.arguments.number("intensity")
    guard intensity != 0 else { return [] }
    let radius = self.arguments.length("radius").pixels(in: geometry.size)
    let half = max(radius * self.arguments.number("falloff"), 0.5)
    let (x0, y0) = self.arguments.point("center").pixels(in: geometry.size)
    let factor: @Sendable (Double, Double) -> Double = { x, y in
      let distance = ((x - x0) * (x - x0) + (y - y0) * (y - y0)).squareRoot()
      let t = min(max((distance - radius + half) / (2 * half), 0), 1)
      return max(0, 1 - intensity * t * t * (3 - 2 * t))
    }
    // The knots of a grid could miss a narrower step.
    return [half >= 48 ? .field(.smooth(factor)) : .exactField(factor)]
  }
}
