/// Darkens what lies outside a circle.
struct VignetteEffect: CatalogueFilter {
  /// What the filter is called, takes, computes and promises.
  static let description = FilterDescription(
    name: "vignetteEffect",
    summary: "Changes the brightness of the periphery of a circle.",
    category: .effect, reach: .pixel, fidelity: .modelled,
    formula: """
      rgb' = rgb * max(0, 1 - intensity * smoothstep(radius * (1 - falloff), radius * (1 + falloff), \
      d)), d the distance from center in pixels. The step is at least a pixel wide
      """,
    parameters: [
      ParameterDescription(
        "center", .point, default: .point(.center), "The middle of the circle."),
      ParameterDescription(
        "radius", .length, default: .number(150), slider: 0 ... 2000, limits: 0 ... 65536,
        unit: .pixels, "The circle on which half of the effect is reached."),
      ParameterDescription(
        "intensity", .number, default: .number(1), slider: -1 ... 1, limits: -8 ... 8,
        "How dark it gets outside; 0 changes nothing, less than 0 brightens."),
      ParameterDescription(
        "falloff", .number, default: .number(0.5), slider: 0 ... 1, limits: 0 ... 1,
        "How wide the step is: 0 is an edge, at 1 it begins in the middle."),
    ])

  private let center: Point
  private let radius: Length
  private let intensity: Double
  private let falloff: Double

  /// Reads the settings.
  init(_ arguments: Arguments) {
    self.center = arguments.point("center")
    self.radius = arguments.length("radius")
    self.intensity = arguments.number("intensity")
    self.falloff = arguments.number("falloff")
  }

  /// What the filter does, for frames of a geometry; nothing if the settings change nothing.
  func nodes(for geometry: FrameGeometry) -> [Node] {
    guard self.intensity != 0 else { return [] }
    let radius = self.radius.pixels(in: geometry.size)
    let half = max(radius * self.falloff, 0.5)
    let (x0, y0) = (
      self.center.x.pixels(in: geometry.size), self.center.y.pixels(in: geometry.size)
    )
    let intensity = self.intensity
    let factor: @Sendable (Double, Double) -> Double = { x, y in
      let distance = ((x - x0) * (x - x0) + (y - y0) * (y - y0)).squareRoot()
      let t = min(max((distance - radius + half) / (2 * half), 0), 1)
      return max(0, 1 - intensity * t * t * (3 - 2 * t))
    }
    // A step narrower than this may slip between the knots of a grid.
    return [half >= 48 ? .field(.smooth(factor)) : .exactField(factor)]
  }
}
