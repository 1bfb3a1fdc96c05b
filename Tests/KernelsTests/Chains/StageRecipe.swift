import SidelightKernels

/// The ranges of a filter's random settings. They are moderate: settings that magnify everything
/// would magnify a chain's rounding errors to several levels.
///
/// The settings of a filter without a recipe have the ranges of its sliders.
struct StageRecipe {
  /// The range of a number or of a length in pixels, by parameter.
  var ranges: [String: ClosedRange<Double>] = [:]
  /// The random numbers of a vector, by parameter.
  var vectors: [String: @Sendable (inout TestRandom) -> [Double]] = [:]
  /// The names that are chosen from, by parameter; all names for a parameter without an entry.
  var choices: [String: [String]] = [:]
  /// Whether a rounding error of the input can change the result by many levels. Such a stage comes
  /// first in its chain, where its input is exact.
  var isDiscontinuous = false
  /// The factor by which the filter may magnify an error of its input.
  var gain = 1.0

  static let all: [String: StageRecipe] = [
    "affineTransform": StageRecipe(vectors: ["transform": { Self.transform(&$0) }]),
    "areaBoundsRed": StageRecipe(isDiscontinuous: true),
    "areaHistogram": StageRecipe(ranges: ["scale": 0 ... 1], isDiscontinuous: true, gain: 2),
    "areaAlphaWeightedHistogram": StageRecipe(
      ranges: ["scale": 0 ... 1], isDiscontinuous: true, gain: 2),
    "areaLogarithmicHistogram": StageRecipe(
      ranges: ["scale": 0 ... 1], isDiscontinuous: true, gain: 2),
    // The smoothing of all of these is rounded twice, and follows colours with steep slopes.
    "beauty": StageRecipe(isDiscontinuous: true, gain: 2),
    "cartoon": StageRecipe(
      ranges: ["tones": 2 ... 4, "lines": 0 ... 0.5], isDiscontinuous: true, gain: 4),
    "edgePreservingSmooth": StageRecipe(
      ranges: ["edges": 0.08 ... 0.3], isDiscontinuous: true, gain: 2),
    "sharpenAdaptive": StageRecipe(
      ranges: ["sharpness": 0 ... 1, "noise": 0.02 ... 0.1], isDiscontinuous: true, gain: 3),
    "sketch": StageRecipe(
      ranges: ["radius": 1 ... 4, "strength": 0 ... 1.5, "shade": 0.5 ... 1], gain: 4),
    "bloom": StageRecipe(ranges: ["radius": 0 ... 9, "intensity": 0 ... 1], gain: 1.3),
    "boxBlur": StageRecipe(ranges: ["radius": 0 ... 8]),
    "bumpDistortion": StageRecipe(ranges: ["radius": 0 ... 40, "scale": -0.9 ... 0.9]),
    // The matte is rounded twice, and follows colours with steep slopes.
    "chromaKey": StageRecipe(
      ranges: ["near": 0 ... 0.2, "far": 0.3 ... 0.6], isDiscontinuous: true, gain: 3),
    "colorBalance": StageRecipe(
      vectors: [
        "shadows": { Self.shift(&$0) }, "midtones": { Self.shift(&$0) },
        "highlights": { Self.shift(&$0) },
      ], gain: 1.5),
    "colorControls": StageRecipe(
      ranges: ["saturation": 0 ... 1.4, "brightness": -0.2 ... 0.2, "contrast": 0.5 ... 1.3],
      gain: 1.8),
    "colorCube": StageRecipe(gain: 1.5),
    "colorThresholdOtsu": StageRecipe(isDiscontinuous: true),
    "colorMatrix": StageRecipe(
      vectors: [
        "rVector": { Self.row(&$0, 0) }, "gVector": { Self.row(&$0, 1) },
        "bVector": { Self.row(&$0, 2) }, "aVector": { Self.row(&$0, 3) },
        "biasVector": { random in (0 ..< 4).map { _ in .random(in: -0.1 ... 0.1, using: &random) }
        },
        // It may raise alpha and show the colours of transparent pixels, which passes do not keep.
      ], isDiscontinuous: true, gain: 1.3),
    "convolution3X3": StageRecipe(
      ranges: ["bias": -0.1 ... 0.1], vectors: ["weights": { Self.weights(&$0, 9) }], gain: 1.2),
    "convolution5X5": StageRecipe(
      ranges: ["bias": -0.1 ... 0.1], vectors: ["weights": { Self.weights(&$0, 25) }], gain: 1.2),
    "convolutionRGB3X3": StageRecipe(
      ranges: ["bias": -0.1 ... 0.1], vectors: ["weights": { Self.weights(&$0, 9) }], gain: 1.2),
    "crop": StageRecipe(ranges: ["width": 5 ... 40, "height": 5 ... 40]),
    "crystallize": StageRecipe(ranges: ["radius": 2 ... 12]),
    "dotScreen": StageRecipe(
      ranges: ["width": 3 ... 30, "sharpness": 0 ... 0.8], isDiscontinuous: true),
    // The root of a sum of squares, which is steep away from edges.
    "edges": StageRecipe(ranges: ["intensity": 0 ... 1], gain: 3),
    "exposureAdjust": StageRecipe(ranges: ["ev": -1.5 ... 0.4], gain: 1.3),
    "gammaAdjust": StageRecipe(ranges: ["power": 0.9 ... 1.5], gain: 1.6),
    "gaussianBlur": StageRecipe(ranges: ["radius": 0 ... 5]),
    "gloom": StageRecipe(ranges: ["radius": 0 ... 9, "intensity": 0 ... 1], gain: 1.3),
    "glow": StageRecipe(ranges: ["intensity": 0 ... 1], gain: 1.6),
    "grain": StageRecipe(ranges: ["amount": 0 ... 0.5]),
    "kernel": StageRecipe(
      choices: [
        "source": [
          "color", "color.rgb * 0.8 + 0.1", "vec4(color.bgr, color.a)",
          "mix(color.rgb, vec3(luma(color)), saturate(uv.x))", "sqrt(saturate(color.rgb) + 0.05)",
          "(sample(-1, 0) + sample(1, 0.5) + color).rgb / 3",
        ]
      ], gain: 2.3),
    "holeDistortion": StageRecipe(ranges: ["radius": 0 ... 12]),
    "hueAdjust": StageRecipe(gain: 1.6),
    "kMeans": StageRecipe(isDiscontinuous: true),
    // The noise reduction's steep weights, and the gain.
    "lowLight": StageRecipe(
      ranges: ["amount": 0 ... 0.2, "denoise": 0 ... 0.5], isDiscontinuous: true, gain: 4),
    // A steep share of the colour, which also depends on it.
    "lumaKey": StageRecipe(
      ranges: ["low": 0 ... 0.3, "high": 0.5 ... 0.9], isDiscontinuous: true, gain: 4),
    "motionBlur": StageRecipe(ranges: ["radius": 0 ... 10]),
    // A few levels separate noise from detail.
    "noiseReduction": StageRecipe(
      ranges: ["noiseLevel": 0.03 ... 0.1, "sharpness": 0 ... 0.4], gain: 3),
    "overlay": StageRecipe(
      ranges: ["width": 5 ... 40, "height": 5 ... 40, "scale": 0.4 ... 1.6],
      // The reference shows no faces.
      choices: ["anchor": ["frame"]]),
    "paletteCentroid": StageRecipe(isDiscontinuous: true),
    "photoEffectNoir": StageRecipe(gain: 2),
    "pinchDistortion": StageRecipe(ranges: ["radius": 0 ... 40, "scale": 0 ... 1.5]),
    "pixellate": StageRecipe(ranges: ["scale": 1 ... 12]),
    "posterize": StageRecipe(ranges: ["levels": 2 ... 30], isDiscontinuous: true),
    "scale": StageRecipe(ranges: ["width": 0 ... 40, "height": 0 ... 40]),
    "sepiaTone": StageRecipe(gain: 1.2),
    "sharpenLuminance": StageRecipe(
      ranges: ["sharpness": 0 ... 0.8, "radius": 0 ... 4], gain: 2),
    "temperatureAndTint": StageRecipe(
      vectors: ["neutral": { Self.white(&$0) }, "targetNeutral": { Self.white(&$0) }], gain: 1.4),
    "twirlDistortion": StageRecipe(ranges: ["radius": 0 ... 40]),
    "toneCurve": StageRecipe(
      vectors: [
        "point0": { Self.tone(&$0, 0) }, "point1": { Self.tone(&$0, 1) },
        "point2": { Self.tone(&$0, 2) }, "point3": { Self.tone(&$0, 3) },
        "point4": { Self.tone(&$0, 4) },
      ], gain: 2.5),
    "unsharpMask": StageRecipe(ranges: ["radius": 0 ... 4, "intensity": 0 ... 0.6], gain: 1.8),
    "vibrance": StageRecipe(ranges: ["amount": -0.8 ... 0.6], gain: 1.8),
    "vignetteEffect": StageRecipe(ranges: ["radius": 0 ... 60]),
    "whiteBalance": StageRecipe(gain: 1.8),
    "whitePointAdjust": StageRecipe(ranges: ["color": 0.5 ... 1]),
    "zoomBlur": StageRecipe(ranges: ["amount": -60 ... 90]),
  ]

  private static func shift(_ random: inout TestRandom) -> [Double] {
    (0 ..< 3).map { _ in .random(in: -0.4 ... 0.4, using: &random) }
  }

  /// Returns a point of a tone curve, within a step of a default one.
  private static func tone(_ random: inout TestRandom, _ index: Int) -> [Double] {
    let tone = Double(index) / 4
    return [tone, min(max(tone + .random(in: -0.12 ... 0.12, using: &random), 0), 1)]
  }

  private static func row(_ random: inout TestRandom, _ own: Int) -> [Double] {
    var row = (0 ..< 4).map { _ in Double.random(in: -0.1 ... 0.2, using: &random) }
    row[own] = .random(in: 0.5 ... 0.9, using: &random)
    return row
  }

  private static func weights(_ random: inout TestRandom, _ count: Int) -> [Double] {
    let weights = (0 ..< count).map { _ in Double.random(in: -0.3 ... 1, using: &random) }
    let sum = weights.reduce(0) { $0 + abs($1) }
    return weights.map { $0 / sum * 1.1 }
  }

  private static func white(_ random: inout TestRandom) -> [Double] {
    [.random(in: 4000 ... 9000, using: &random), .random(in: -30 ... 30, using: &random)]
  }

  private static func transform(_ random: inout TestRandom) -> [Double] {
    func near(_ value: Double, _ reach: Double) -> Double {
      value + Double.random(in: -reach ... reach, using: &random)
    }
    return [near(1, 0.4), near(0, 0.5), near(0, 0.5), near(1, 0.4), near(0, 12), near(0, 12)]
  }
}
