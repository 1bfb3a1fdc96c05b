import CKernels

/// A rotation about a point that decreases with the distance.
struct TwirlDistortion: DiscDistortion {
  static let description = FilterDescription(
    name: "twirlDistortion",
    summary: "Rotates the picture about a point, most at the centre.",
    category: .distortion, reach: .neighborhood, fidelity: .modelled, isCoreImage: true,
    keywords: "warp swirl",
    examples: ["twirlDistortion(radius: 0.4375h)"],
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

  static let noun = "twirl"
  static let amountName = "angle"

  let arguments: Arguments

  static func factor(at distance: Double, amount: Double) -> RadialMap.Factor {
    let angle = amount * (1 - distance) * (1 - distance)
    return RadialMap.Factor(re: cos(angle), im: sin(angle))
  }
}
