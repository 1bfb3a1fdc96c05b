/// Film grain: noise that multiplies the picture.
struct Grain: ArgumentFilter {
  static let description = FilterDescription(
    name: "grain",
    summary: "Multiplies the picture by noise, like the grain of film.",
    category: .effect, reach: .pixel, fidelity: .formula,
    keywords: "old analog",
    examples: ["grain(amount: 0.2)"],
    formula: """
      rgb' = rgb * n, n one of 256 equally likely values in 1 - amount ... 1, for each pixel and \
      frame; one n for all channels, or one for each. The same seed and frame number give the same \
      noise on every machine
      """,
    parameters: [
      ParameterDescription(
        "amount", .number, default: .number(0.03), slider: 0 ... 1, limits: 0 ... 1,
        "The greatest share of light that a pixel loses; 0 changes nothing."),
      ParameterDescription(
        "seed", .number, default: .number(0), slider: 0 ... 1000, limits: 0 ... 1e6,
        "The seed, a whole number; different seeds give different noise."),
      ParameterDescription(
        "monochrome", .flag, default: .flag(true), "Whether the channels share their noise."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let amount = self.arguments.number("amount")
    let seed = UInt64(self.arguments.number("seed").rounded())
    guard amount > 0 else { return [] }
    guard !self.arguments.flag("monochrome") else {
      return [.field(.grain(amount: amount, seed: seed))]
    }
    // Three independent noises, which other seeds don't yield.
    func field(_ channel: UInt64) -> GrainField {
      GrainField(amount: amount, seed: seed &+ channel << 32)
    }
    let fields = (field(1), field(2), field(3))
    let kernel = StripKernel { pixel, x, y, time in
      func noise(_ field: GrainField) -> Double { field.value(x: x, y: y, time: time) }
      return pixel * [noise(fields.0), noise(fields.1), noise(fields.2), 1]
    } apply: { strip in
      unsafe fields.0.multiply(strip.red, strip)
      unsafe fields.1.multiply(strip.green, strip)
      unsafe fields.2.multiply(strip.blue, strip)
    }
    return [FilterNode(.kernel(kernel))]
  }
}

extension GrainField {
  /// Multiplies one channel of a strip by the noise.
  fileprivate func multiply(_ channel: UnsafeMutablePointer<Float>, _ strip: Strip) {
    let noise = unsafe NoiseTable.start + self.offset(y: strip.y, time: strip.time) + strip.x
    let unit = Float(self.amount) / 255
    for index in 0 ..< strip.count {
      unsafe channel[index] *= 1 - unit * Float(noise[index])
    }
  }
}
