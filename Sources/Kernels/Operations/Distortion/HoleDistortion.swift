/// A displacement away from a circular hole.
struct HoleDistortion: ArgumentFilter {
  static let description = FilterDescription(
    name: "holeDistortion",
    summary: "Moves pixels away from a point, around a circular hole.",
    category: .distortion, reach: .neighborhood, fidelity: .modelled, isCoreImage: true,
    keywords: "warp",
    examples: ["holeDistortion(radius: 0.21875h)"],
    formula: """
      A pixel at distance d > radius from center is read from distance d - radius^2 / d in the \
      same direction: the centre is mapped to the rim, and distant pixels hardly move. The hole is \
      transparent, or black in opaque pictures; its rim is one pixel soft. Bilinear; edges are \
      clamped
      """,
    parameters: [
      ParameterDescription("center", .point, default: .point(.center), "The centre of the hole."),
      ParameterDescription(
        "radius", .length, default: .number(150), slider: 0.01 ... 1000, limits: 0 ... 32768,
        unit: .pixels, "The hole's radius; below half a pixel nothing changes."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let size = geometry.size
    let radius = self.arguments.length("radius").pixels(in: size)
    guard radius >= 0.5 else { return [] }
    let center = self.arguments.point("center").pixels(in: size)
    let map = RadialMap(
      center: center, hole: radius,
      reach: max(radius, RadialMap.greatestDistance(from: center, in: size)) + 1
    ) { distance in
      // Pixels deep in the hole are empty; their factor must only be finite.
      let ratio = radius / max(distance, radius / 2)
      return RadialMap.Factor(re: 1 - ratio * ratio, im: 0)
    }
    let summary = "a hole of radius \(radius), in tiles"
    return [FilterNode(.neighborhood(RadialWarpOperation(map: map, summary: summary)))]
  }
}
