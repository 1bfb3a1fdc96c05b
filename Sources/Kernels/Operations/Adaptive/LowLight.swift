import CKernels

/// A brightening of dark pictures with less noise, which follows changes of the light slowly.
struct LowLight: ArgumentFilter {
  static let description = FilterDescription(
    name: "lowLight",
    summary: "Brightens dark pictures and reduces their noise; bright pictures do not change.",
    category: .color, reach: .frame, fidelity: .formula,
    keywords: "dark night brighter denoise noise",
    examples: ["exposureAdjust(ev: -1.4), lowLight"],
    formula: """
      First noiseReduction(noiseLevel: .04 denoise min(1, (a - 1) / 1.5), sharpness: 0). Then rgb' = rgb * \
      min(a / (1 + k m), max(1, 1 / m)), m = max(r, g, b): hues stay. b is the mean Rec. 709 luma, and w \
      min(1, 1.1 v), v the least level that the greatest channel of at most 1 % of the samples exceeds, of \
      a grid of at most 64x36 samples of the frame as it arrives; b is at least .02, v at least .05. A \
      picture with b of .38 or more does not change. Otherwise g = .38 / b if that is at most 1 / w, else \
      .38 (1 - q) / (.62 b), q = min(.9, b / w), which gives b the brightness .38 and w white; a = min(8, \
      max(1, g))^amount, k = max(0, a - 1 / w). The logarithms of b and v follow over time with the time \
      constant smoothing: by 1 - e^(-t / smoothing) after t seconds of capture time. A first frame, one \
      after a cut (a mean change of luma of more than 30 levels), and a picture by itself have their own \
      b and v. Gains within 1/256 of 1 change nothing. Computed on gamma-encoded colour in every working \
      space
      """,
    parameters: [
      ParameterDescription(
        "amount", .number, default: .number(1), slider: 0 ... 1, limits: 0 ... 1,
        "The exponent of the gain; 0 changes nothing."),
      ParameterDescription(
        "denoise", .number, default: .number(0.7), slider: 0 ... 1, limits: 0 ... 1,
        "The strength of the noise reduction, which also grows with the gain; 0 reduces none."),
      AdaptiveParameter.smoothing,
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let operation = Operation(
      amount: self.arguments.number("amount"), denoise: self.arguments.number("denoise"),
      smoothing: self.arguments.number(AdaptiveParameter.smoothing.name))
    return operation.amount == 0 ? [] : [.scene(operation)]
  }

  struct Operation: AdaptiveOperation {
    let amount: Double
    let denoise: Double
    let smoothing: Double
    var isColorMatrix: Bool { false }
    var summary: String { "noise reduction and gain by the brightness of each frame" }

    /// The mean luma that dark pictures get.
    private static let target = 0.38
    private static let greatestGain = 8.0
    /// The gain above 1 at which the noise reduction is full.
    private static let noisyGain = 1.5
    private static let greatestNoiseLevel = 0.04
    /// The share of the samples that may become brighter than white.
    private static let clippedShare = 0.01
    private static let headroom = 1.1
    /// Smaller logarithms of a gain count as 0.
    private static let threshold = 1.0 / 256

    /// Logarithms of the mean luma and of the brightest level.
    func measure(_ samples: SampleGrid) -> SIMD2<Double>? {
      guard let mean = samples.meanLuma,
        let brightest = samples.brightest(share: Self.clippedShare)
      else { return nil }
      return [log(max(mean, 0.02)), log(max(Double(brightest) / 255, 0.05))]
    }

    func nodes(for value: SIMD2<Double>, of geometry: FrameGeometry) -> [FilterNode] {
      let mean = exp(value.x)
      let white = min(1, Self.headroom * exp(value.y))
      guard mean < Self.target else { return [] }
      var gain = Self.target / mean
      if gain > 1 / white {
        let share = min(0.9, mean / white)
        gain = Self.target * (1 - share) / (mean * (1 - Self.target))
      }
      gain = pow(min(max(gain, 1), Self.greatestGain), self.amount)
      guard log(gain) > Self.threshold else { return [] }
      let noiseLevel =
        self.denoise * Self.greatestNoiseLevel * min(1, (gain - 1) / Self.noisyGain)
      let smooth = NoiseReduction(
        Arguments(values: ["noiseLevel": .number(noiseLevel), "sharpness": .number(0)]))
      return smooth.nodes(for: geometry) + [.shoulder(gain: gain, knee: max(0, gain - 1 / white))]
    }
  }
}

extension FilterNode {
  /// A gain of dark colours that becomes less for bright ones: rgb * min(gain / (1 + knee m),
  /// max(1, 1 / m)), m the greatest channel. The ratios of channels stay, and channels don't exceed
  /// 1.
  fileprivate static func shoulder(gain: Double, knee: Double) -> FilterNode {
    let (slope, bend) = (Float(gain), Float(knee))
    return FilterNode(
      .kernel(
        StripKernel { pixel, _, _, _ in
          let most = max(pixel.x, pixel.y, pixel.z, 1e-6)
          let factor = min(gain / (1 + knee * most), max(1, 1 / most))
          return [pixel.x * factor, pixel.y * factor, pixel.z * factor, pixel.w]
        } apply: { strip in
          let (red, green, blue) = unsafe (strip.red, strip.green, strip.blue)
          for index in 0 ..< strip.count {
            let most = unsafe max(max(red[index], green[index]), max(blue[index], 1e-6))
            let factor = min(slope / (1 + bend * most), max(1, 1 / most))
            unsafe red[index] *= factor
            unsafe green[index] *= factor
            unsafe blue[index] *= factor
          }
        }))
  }
}
