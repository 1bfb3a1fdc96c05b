/// A bulge around a point.
struct BumpDistortion: CatalogueFilter {
  static let description = FilterDescription(
    name: "bumpDistortion",
    summary: "Makes the picture bulge or sink around a point.",
    category: .distortion, reach: .neighborhood, fidelity: .modelled,
    formula: """
      A pixel at distance d < radius from center is read from distance d (1 - scale (1 - u^2)^2), \
      u = d / radius, in the same direction; pixels at radius and beyond do not change. Bilinear; \
      edges are clamped
      """,
    parameters: [
      ParameterDescription("center", .point, default: .point(.center), "The centre of the bump."),
      ParameterDescription(
        "radius", .length, default: .number(300), slider: 0 ... 600, limits: 0 ... 32768,
        unit: .pixels, "The radius of the bump."),
      ParameterDescription(
        "scale", .number, default: .number(0.5), slider: -1 ... 1, limits: -16 ... 16,
        "The height of the bump; negative values sink, 0 changes nothing."),
    ])

  private let center: FramePoint
  private let radius: Length
  private let scale: Double

  init(_ arguments: Arguments) {
    self.center = arguments.point("center")
    self.radius = arguments.length("radius")
    self.scale = arguments.number("scale")
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let size = geometry.size
    let (radius, scale) = (self.radius.pixels(in: size), self.scale)
    guard radius >= 0.5, scale != 0 else { return [] }
    let map = RadialMap(
      center: self.center.pixels(in: size), hole: 0,
      reach: radius
    ) { distance in
      let inner = 1 - (distance / radius) * (distance / radius)
      return RadialMap.Factor(re: 1 - scale * inner * inner, im: 0)
    }
    let words = "a bump of radius \(radius), in tiles"
    return [FilterNode(.neighborhood(RadialWarpOperation(map: map, words: words)))]
  }
}
