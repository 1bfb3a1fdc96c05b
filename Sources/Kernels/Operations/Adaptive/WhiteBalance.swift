import CKernels

/// A removal of the colour of the light, which follows changes of the light slowly.
struct WhiteBalance: ArgumentFilter {
  static let description = FilterDescription(
    name: "whiteBalance",
    summary: "Removes the colour of the light, automatically and without flicker.",
    category: .color, reach: .pixel, fidelity: .formula,
    keywords: "warmer colder cooler cast",
    examples: [
      """
      colorMatrix(rVector: [1, 0, 0, 0], gVector: [0, 0.85, 0, 0], bVector: [0, 0, 0.65, 0]), \
      whiteBalance
      """
    ],
    formula: """
      c' = c * (T_c / E_c)^amount for each of r, g, b. E, the light in units of its green: the norm (sum \
      c^5)^(1/5) of each channel over a grid of at most 64x36 samples of the frame as it arrives, without \
      those whose greatest channel is below 16 or above 249 (shades of grey, Finlayson and Trezzi 2004); \
      then twice the same with the weights max(0, 1 - s / .3), s = (max - min) / max of c / E, unless \
      they sum to less than 2 % of the samples. Red and blue over green are limited to e^-.4 ... e^.4, and \
      their logarithms follow over time with the time constant smoothing: by 1 - e^(-t / smoothing) \
      after t seconds of capture time. T = Y(E) k / Y(k), Y the Rec. 709 luma, k = (q, 1, 1 / q), q = \
      max(1, E_r / E_b)^(warmth / 2). A first frame, one after a cut (a mean change of luma of more than \
      30 levels), and a picture by itself have their own E; without enough samples nothing changes. \
      Factors within 1/512 of 1 change nothing. Computed on gamma-encoded colour in every working space
      """,
    parameters: [
      ParameterDescription(
        "amount", .number, default: .number(1), slider: 0 ... 1, limits: 0 ... 1,
        "The share of the light's colour that is removed; 0 changes nothing."),
      ParameterDescription(
        "warmth", .number, default: .number(0), slider: 0 ... 1, limits: 0 ... 1,
        "The share of a warm light's colour that stays, such as that of a lamp."),
      AdaptiveParameter.smoothing,
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let operation = Operation(
      amount: self.arguments.number("amount"), warmth: self.arguments.number("warmth"),
      smoothing: self.arguments.number(AdaptiveParameter.smoothing.name))
    return operation.amount == 0 || geometry.format == .gray8 ? [] : [.scene(operation)]
  }

  struct Operation: AdaptiveOperation {
    let amount: Double
    let warmth: Double
    let smoothing: Double
    var isColorMatrix: Bool { true }
    var summary: String { "a colour matrix that removes the colour of each frame's light" }

    /// The maximum logarithm of red or blue over green.
    private static let limit = 0.4
    /// Smaller logarithms of a factor count as 0.
    private static let threshold = 1.0 / 512

    /// Logarithms of the light's red and blue over its green.
    func measure(_ samples: SampleGrid) -> SIMD2<Double>? {
      guard let light = LightColor(samples)?.color else { return nil }
      func ratio(_ channel: Double) -> Double {
        min(max(log(channel / light.y), -Self.limit), Self.limit)
      }
      return [ratio(light.x), ratio(light.z)]
    }

    func nodes(for value: SIMD2<Double>, of geometry: FrameGeometry) -> [FilterNode] {
      let light = SIMD3(exp(value.x), 1, exp(value.y))
      let kept = exp(self.warmth * max(0, value.x - value.y) / 2)
      let tint = SIMD3(kept, 1, 1 / kept)
      let target =
        tint * ((light * ColorMatrix.luma).sum() / (tint * ColorMatrix.luma).sum())
      let exponents = SIMD3(log(target.x / light.x), log(target.y), log(target.z / light.z))
      let scaled = exponents * self.amount
      let changes = (0 ..< 3).contains { abs(scaled[$0]) > Self.threshold }
      guard changes else { return [] }
      return [.matrix(.scaling([exp(scaled.x), exp(scaled.y), exp(scaled.z)]))]
    }
  }
}

/// The colour of a picture's light, estimated by using its brighter and greyer samples.
private struct LightColor {
  /// Red, green and blue; only their ratios have a meaning.
  private(set) var color: SIMD3<Double>

  /// The levels of a sample's greatest channel that count.
  private static let levels: ClosedRange<Int32> = 16 ... 249
  /// The minimum share of the samples that must count.
  private static let minShare = 0.02
  /// The chroma from which a sample does not count.
  private static let greatestChroma = 0.3
  /// The weight of a grey sample. Sums of weighted fifth powers fit 64 bits.
  private static let unit = 256.0
  /// The number of times the light is estimated from samples that are grey in the last light.
  private static let rounds = 2

  /// - Returns: `nil` if fewer than 2 % of the samples count.
  init?(_ grid: SampleGrid) {
    let samples = grid.samples.filter { sample in
      sample.w == 1 && Self.levels.contains(max(sample.x, sample.y, sample.z))
    }
    let least = Self.minShare * Double(grid.samples.count)
    guard !samples.isEmpty, Double(samples.count) >= least else { return nil }
    self.color = Self.norm(samples) { _ in UInt64(Self.unit) }
    for _ in 0 ..< Self.rounds {
      let light = self.color
      var total: UInt64 = 0
      let norm = Self.norm(samples) { sample in
        let weight = Self.weight(sample, in: light)
        total += weight
        return weight
      }
      guard Double(total) >= least * Self.unit else { return }
      self.color = norm
    }
  }

  /// The weight of a sample, from its chroma in a light.
  private static func weight(_ sample: SIMD4<Int32>, in light: SIMD3<Double>) -> UInt64 {
    let color = SIMD3(Double(sample.x), Double(sample.y), Double(sample.z)) / light
    let (greatest, least) = (color.max(), color.min())
    let share = 1 - (greatest - least) / (greatest * Self.greatestChroma)
    return UInt64((max(0, share) * Self.unit).rounded())
  }

  /// The weighted norm of degree 5 per channel, in 1/256 level.
  private static func norm(
    _ samples: [SIMD4<Int32>], weight: (SIMD4<Int32>) -> UInt64
  ) -> SIMD3<Double> {
    var sums = SIMD3<UInt64>.zero
    var total: UInt64 = 0
    for sample in samples {
      let levels = SIMD3(UInt64(sample.x), UInt64(sample.y), UInt64(sample.z))
      let squares = levels &* levels
      let factor = weight(sample)
      sums &+= squares &* squares &* levels &* factor
      total += factor
    }
    func root(_ sum: UInt64) -> Double {
      // Rounded, because machines differ in the last bit of a power.
      max(1, (256 * pow(Double(sum) / Double(max(1, total)), 0.2)).rounded())
    }
    return [root(sums.x), root(sums.y), root(sums.z)]
  }
}

/// The parameters that filters with a smoothed measurement share.
enum AdaptiveParameter {
  static let smoothing = ParameterDescription(
    "smoothing", .number, default: .number(1), slider: 0 ... 5, limits: 0 ... 60,
    "The time constant in seconds with which changes of the light are followed; 0 follows at once.")
}
