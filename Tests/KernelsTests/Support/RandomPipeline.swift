import SidelightKernels

/// Random pipelines, with combinations that no hand-written test covers.
enum RandomPipeline {
  /// A pipeline with moderate settings, which don't magnify errors of a level to many.
  static func make(_ random: inout TestRandom, depth: Int = 0) -> Pipeline {
    let count = Int.random(in: 1 ... 4, using: &random)
    return Pipeline(
      stages: (0 ..< count).map { _ in
        var stage = Self.stage(&random, depth)
        if Int.random(in: 0 ..< 4, using: &random) == 0 {
          stage.mix = Double.random(in: 0 ... 1, using: &random)
        }
        if Int.random(in: 0 ..< 4, using: &random) == 0 {
          func length(_ range: ClosedRange<Double>) -> Length {
            Length(
              Double.random(in: range, using: &random), .width)
          }
          stage.region = Region(
            origin: FramePoint(x: length(-0.2 ... 0.8), y: length(-0.2 ... 0.5)),
            width: length(0.1 ... 0.9), height: length(0.1 ... 0.9))
        }
        stage.isActive = Int.random(in: 0 ..< 8, using: &random) > 0
        return stage
      })
  }

  private static func stage(_ random: inout TestRandom, _ depth: Int) -> Stage {
    func number(_ range: ClosedRange<Double>) -> ParameterValue {
      .number(Double.random(in: range, using: &random))
    }
    switch Int.random(in: 0 ..< 9, using: &random) {
    case 0: return .filter("sepiaTone", ["intensity": number(0 ... 1)])
    case 1: return .filter("grayscale")
    case 2: return .filter("colorInvert")
    case 3:
      return .filter(
        "colorControls", ["saturation": number(0.5 ... 1.3), "contrast": number(0.7 ... 1.2)])
    case 4: return .filter("hueAdjust", ["angle": number(-0.6 ... 0.6)])
    case 5: return .filter("vignette", ["intensity": number(0 ... 0.8)])
    case 6: return .filter("gaussianBlur", ["radius": number(0 ... 4)])
    case 7: return .filter("pixellate", ["scale": number(1 ... 12)])
    default:
      return depth < 2
        ? Stage(.pipeline(Self.make(&random, depth: depth + 1))) : .filter("colorInvert")
    }
  }
}

/// A small generator with a seed, to make failures repeatable (SplitMix64).
struct TestRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    self.state = seed
  }

  mutating func next() -> UInt64 {
    self.state &+= 0x9e37_79b9_7f4a_7c15
    var z = self.state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
