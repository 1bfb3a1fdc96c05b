import CKernels

/// A contraction towards a point.
struct PinchDistortion: DiscDistortion {
  static let description = FilterDescription(
    name: "pinchDistortion",
    summary: "Pinches the picture towards a point.",
    category: .distortion, reach: .neighborhood, fidelity: .modelled, isCoreImage: true,
    keywords: "warp",
    examples: ["pinchDistortion(radius: 0.4375h)"],
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

  static let noun = "pinch"
  static let amountName = "scale"

  let arguments: Arguments

  static func factor(at distance: Double, amount: Double) -> RadialMap.Factor {
    let inner = 1 - distance
    return RadialMap.Factor(re: exp(amount * inner * inner), im: 0)
  }
}
