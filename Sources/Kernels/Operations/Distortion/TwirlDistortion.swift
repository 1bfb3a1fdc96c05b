#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A rotation about a point that decreases with the distance.
struct TwirlDistortion: CatalogueFilter {
  static let description = FilterDescription(
    name: "twirlDistortion",
    summary: "Rotates the picture about a point, most at the centre.",
    category: .distortion, reach: .neighborhood, fidelity: .modelled,
    formula: """
      Pixels at distance d < radius from center are rotated by angle (1 - d / radius)^2, \
      counterclockwise; pixels at radius and beyond do not change. Bilinear; edges are clamped
      """,
    parameters: [
      ParameterDescription("center", .point, default: .point(.center), "The centre of rotation."),
      ParameterDescription(
        "radius", .length, default: .number(300), slider: 0 ... 500, limits: 0 ... 32768,
        unit: .pixels, "The radius of the twirl."),
      ParameterDescription(
        "angle", .number, default: .number(3.141592653589793),
        slider: -12.566370614359172 ... 12.566370614359172, limits: -1000 ... 1000, unit: .radians,
        "The rotation at the centre; 0 changes nothing."),
    ])

  private let center: FramePoint
  private let radius: Length
  private let angle: Double

  init(_ arguments: Arguments) {
    self.center = arguments.point("center")
    self.radius = arguments.length("radius")
    self.angle = arguments.number("angle")
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let size = geometry.size
    let (radius, angle) = (self.radius.pixels(in: size), self.angle)
    guard radius >= 0.5, angle != 0 else { return [] }
    let map = RadialMap(
      center: self.center.pixels(in: size), hole: 0,
      reach: radius
    ) { distance in
      let turn = angle * (1 - distance / radius) * (1 - distance / radius)
      return RadialMap.Factor(re: cos(turn), im: sin(turn))
    }
    let words = "a twirl of radius \(radius), in tiles"
    return [FilterNode(.neighborhood(RadialWarpOperation(map: map, words: words)))]
  }
}
