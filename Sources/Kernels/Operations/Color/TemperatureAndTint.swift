import CKernels

/// A change of the white point.
struct TemperatureAndTint: ArgumentFilter {
  static let description = FilterDescription(
    name: "temperatureAndTint",
    summary: "Adapts the white point of the picture, by colour temperature and tint.",
    category: .color, reach: .pixel, fidelity: .modelled, isCoreImage: true,
    keywords: "warmer colder cooler white balance",
    examples: [
      "temperatureAndTint(neutral: [5500, 0])",
      "temperatureAndTint(targetNeutral: [5500, 0])",
      "temperatureAndTint(targetNeutral: [6500, 60])",
    ],
    formula: """
      Chromatic adaptation (Bradford) from the white of neutral to the white of targetNeutral; its \
      gains are raised to 1/2.2, because colour is gamma-encoded. A white is Planck's at the \
      temperature (Krystek 1985), moved by tint / 3000 in v of CIE 1960 across the locus, up to \
      green. Temperatures are limited to 1000 ... 40000 K. Equal whites change nothing; 5500 to \
      6500 cools, although some guides call it warm
      """,
    parameters: [
      ParameterDescription(
        "neutral", .vector(count: 2), default: .vector([6500, 0]), slider: 2000 ... 10000,
        limits: -1000 ... 100_000, unit: .kelvin,
        "The white of the picture: temperature in kelvin, and tint."),
      ParameterDescription(
        "targetNeutral", .vector(count: 2), default: .vector([6500, 0]), slider: 2000 ... 10000,
        limits: -1000 ... 100_000, unit: .kelvin,
        "The white of the result: temperature in kelvin, and tint."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    func white(_ name: String) -> WhitePoint {
      let vector = self.arguments.vector(name)
      return WhitePoint(kelvin: vector[0], tint: vector[1])
    }
    let (neutral, target) = (white("neutral"), white("targetNeutral"))
    return neutral == target ? [] : [.matrix(neutral.adaptation(to: target))]
  }
}

/// A white point: a colour temperature and the distance from the Planckian locus.
struct WhitePoint: Sendable, Hashable {
  /// The correlated colour temperature, 1000 ... 40000.
  let kelvin: Double
  /// 3000 times the distance from the locus in CIE 1960 (u, v); positive is green, negative
  /// magenta.
  let tint: Double

  /// Cone responses of CIE XYZ (Lam 1985, "Bradford").
  private static let bradford: [SIMD3<Double>] = [
    [0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296],
  ]
  private static let bradfordInverse: [SIMD3<Double>] = [
    [0.9869929, -0.1470543, 0.1599627], [0.4323053, 0.5183603, 0.0492912],
    [-0.0085287, 0.0400428, 0.9684867],
  ]
  /// Linear sRGB to CIE XYZ, D65 (IEC 61966-2-1).
  private static let toXYZ: [SIMD3<Double>] = [
    [0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
  ]
  private static let fromXYZ: [SIMD3<Double>] = [
    [3.2404542, -1.5371385, -0.4985314], [-0.9692660, 1.8760108, 0.0415560],
    [0.0556434, -0.2040259, 1.0572252],
  ]

  init(kelvin: Double, tint: Double) {
    self.kelvin = min(max(kelvin, 1000), 40000)
    self.tint = min(max(tint, -300), 300)
  }

  /// The map of gamma-encoded sRGB from this white to the other.
  func adaptation(to target: WhitePoint) -> ColorMatrix {
    let from = Self.apply(Self.bradford, self.xyz)
    let to = Self.apply(Self.bradford, target.xyz)
    // A gain of light is the gain's 2.2nd root on gamma-encoded colour.
    let gains = SIMD3(
      pow(to.x / from.x, 1 / 2.2), pow(to.y / from.y, 1 / 2.2), pow(to.z / from.z, 1 / 2.2))
    func column(_ color: SIMD3<Double>) -> SIMD3<Double> {
      let cones = Self.apply(Self.bradford, Self.apply(Self.toXYZ, color)) * gains
      return Self.apply(Self.fromXYZ, Self.apply(Self.bradfordInverse, cones))
    }
    let (red, green, blue) = (column([1, 0, 0]), column([0, 1, 0]), column([0, 0, 1]))
    return ColorMatrix(
      red: [red.x, green.x, blue.x, 0], green: [red.y, green.y, blue.y, 0],
      blue: [red.z, green.z, blue.z, 0])
  }

  /// CIE XYZ with Y = 1.
  private var xyz: SIMD3<Double> {
    let (u, v) = self.uv
    let denominator = 2 * u - 8 * v + 4
    let (x, y) = (3 * u / denominator, 2 * v / denominator)
    return [x / y, 1, (1 - x - y) / y]
  }

  /// CIE 1960 (u, v).
  private var uv: (Double, Double) {
    let here = Self.locus(self.kelvin)
    // The direction of the locus from cold to warm; green is on its left.
    let (colder, warmer) = (Self.locus(self.kelvin * 1.001), Self.locus(self.kelvin * 0.999))
    let (du, dv) = (warmer.0 - colder.0, warmer.1 - colder.1)
    let length = (du * du + dv * dv).squareRoot()
    let offset = self.tint / 3000 / length
    return (here.0 - dv * offset, here.1 + du * offset)
  }

  /// The Planckian locus in CIE 1960 (u, v): Krystek, "An algorithm to calculate correlated colour
  /// temperature", 1985; within 1e-4 for 1000 ... 15000 K, and smooth beyond.
  private static func locus(_ t: Double) -> (Double, Double) {
    let square = t * t
    return (
      (0.860117757 + 1.54118254e-4 * t + 1.28641212e-7 * square)
        / (1 + 8.42420235e-4 * t + 7.08145163e-7 * square),
      (0.317398726 + 4.22806245e-5 * t + 4.20481691e-8 * square)
        / (1 - 2.89741816e-5 * t + 1.61456053e-7 * square)
    )
  }

  private static func apply(
    _ rows: [SIMD3<Double>], _ vector: SIMD3<Double>
  ) -> SIMD3<Double> {
    [(rows[0] * vector).sum(), (rows[1] * vector).sum(), (rows[2] * vector).sum()]
  }
}
