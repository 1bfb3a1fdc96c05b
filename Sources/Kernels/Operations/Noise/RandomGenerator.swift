/// Noise instead of the picture.
struct RandomGenerator: ArgumentFilter {
  static let description = FilterDescription(
    name: "randomGenerator",
    summary: "Replaces the picture by coloured noise, for use with a mix or a composition.",
    category: .effect, reach: .pixel, fidelity: .formula, isCoreImage: true,
    formula: """
      r', g', b' and, where there is alpha, a' are each one of 256 equally likely values in 0 ... \
      1, for each pixel and frame; the same seed and frame number give the same noise on every \
      machine
      """,
    parameters: [
      ParameterDescription(
        "seed", .number, default: .number(0), slider: 0 ... 1000, limits: 0 ... 1e6,
        "The seed, a whole number; different seeds give different noise.")
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let seed = UInt64(self.arguments.number("seed").rounded())
    // Independent noises, which `grain` does not use.
    func field(_ channel: UInt64) -> GrainField {
      GrainField(amount: 1, seed: seed &+ (channel + 8) << 32)
    }
    let (red, green, blue, alpha) = (field(0), field(1), field(2), field(3))
    let kernel = StripKernel { _, x, y, time in
      func noise(_ field: GrainField) -> Double { field.value(x: x, y: y, time: time) }
      return [noise(red), noise(green), noise(blue), noise(alpha)]
    } apply: { strip in
      unsafe red.fill(strip.red, strip)
      unsafe green.fill(strip.green, strip)
      unsafe blue.fill(strip.blue, strip)
      unsafe alpha.fill(strip.alpha, strip)
    }
    return [FilterNode(.kernel(kernel))]
  }
}
