/// Darkens the picture outside a circle.
public struct VignetteEffect: CatalogueFilter {
  public static let description = FilterDescription(
    name: "vignetteEffect",
    summary: "Darkens the periphery of a circle.",
    category: .effect, reach: .pixel, fidelity: .modelled,
    formula: """
      rgb' = rgb * max(0, 1 - intensity * smoothstep(radius * (1 - falloff), radius * (1 + \
      falloff), d)), d the distance from center
      """,
    parameters: [
      ParameterDescription("center", .point, default: .point(.center), "The circle's middle."),
      ParameterDescription(
        "radius", .length, default: .number(150), slider: 0 ... 2000, limits: 0 ... 65536,
        unit: .pixels, "The circle's radius."),
      ParameterDescription(
        "intensity", .number, default: .number(1), slider: -1 ... 1, limits: -8 ... 8,
        "How dark it is far outside; less than 0 brightens."),
      ParameterDescription(
        "falloff", .number, default: .number(0.5), slider: 0 ... 1, limits: 0 ... 1,
        "How soft the circle is; 0 is a hard edge."),
    ])

  private let center: Point
  private let radius: Length
  private let intensity: Double
  private let falloff: Double

  public init(_ arguments: Arguments) {
    self.center = arguments.point("center")
    self.radius = arguments.length("radius")
    self.intensity = arguments.number("intensity")
    self.falloff = arguments.number("falloff")
  }

  public func nodes(for geometry: FrameGeometry) -> [Node] {
    guard self.intensity != 0 else { return [] }
    let (cx, cy) = self.center.pixels(in: geometry.size)
    let radius = self.radius.pixels(in: geometry.size)
    let inner = radius * (1 - self.falloff)
    let width = max(radius * 2 * self.falloff, 1e-6)
    let intensity = self.intensity
    return [
      .field(
        .smooth { x, y in
          let (dx, dy) = (x - cx, y - cy)
          let t = min(max(((dx * dx + dy * dy).squareRoot() - inner) / width, 0), 1)
          return max(0, 1 - intensity * t * t * (3 - 2 * t))
        })
    ]
  }
}
