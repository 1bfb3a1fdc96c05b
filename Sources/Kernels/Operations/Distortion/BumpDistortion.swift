/// A bulge around a point.
struct BumpDistortion: DiscDistortion {
  static let description = FilterDescription(
    name: "bumpDistortion",
    summary: "Makes the picture bulge or sink around a point.",
    category: .distortion, reach: .neighborhood, fidelity: .modelled, isCoreImage: true,
    examples: [
      "bumpDistortion(radius: 0.4375h, scale: 0.5)",
      "bumpDistortion(radius: 0.4375h, scale: -0.5)",
    ],
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

  static let noun = "bump"
  static let amountName = "scale"

  let arguments: Arguments

  static func factor(at distance: Double, amount: Double) -> RadialMap.Factor {
    let inner = 1 - distance * distance
    return RadialMap.Factor(re: 1 - amount * inner * inner, im: 0)
  }
}
