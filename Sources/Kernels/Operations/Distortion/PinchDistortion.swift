#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A contraction towards a point.
struct PinchDistortion: CatalogueFilter {
  static let description = FilterDescription(
    name: "pinchDistortion",
    summary: "Pinches the picture towards a point.",
    category: .distortion, reach: .neighborhood, fidelity: .modelled,
    formula: """
      A pixel at distance d < radius from center is read from distance \
      d exp(scale (1 - d / radius)^2) in the same direction; pixels at radius and beyond do not \
      change. The map does not fold up to scale 2. Bilinear; edges are clamped
      """,
    parameters: [
      ParameterDescription("center", .point, default: .point(.center), "The centre of the pinch."),
      ParameterDescription(
        "radius", .length, default: .number(300), slider: 0 ... 1000, limits: 0 ... 32768,
        unit: .pixels, "The radius of the pinch."),
      ParameterDescription(
        "scale", .number, default: .number(0.5), slider: 0 ... 2, limits: -4 ... 4,
        "The strength; 0 changes nothing."),
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
      let inner = 1 - distance / radius
      return RadialMap.Factor(re: exp(scale * inner * inner), im: 0)
    }
    let words = "a pinch of radius \(radius), in tiles"
    return [FilterNode(.neighborhood(RadialWarpOperation(map: map, words: words)))]
  }
}
