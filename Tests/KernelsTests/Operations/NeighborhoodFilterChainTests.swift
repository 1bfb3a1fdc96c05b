import SidelightKernels
import Testing

/// Chains of neighbourhood filters and pointwise filters.
@Suite struct `Chains of neighbourhood filters` {
  /// A stage with moderate settings, which don't magnify errors of a level to many.
  private static func stage(_ random: inout TestRandom) -> Stage {
    func number(_ range: ClosedRange<Double>) -> ParameterValue {
      .number(Double.random(in: range, using: &random))
    }
    var stage: Stage =
      switch Int.random(in: 0 ..< 13, using: &random) {
      case 0: .filter("boxBlur", ["radius": number(0 ... 8)])
      case 1: .filter("motionBlur", ["radius": number(0 ... 12), "angle": number(-3 ... 3)])
      case 2: .filter("zoomBlur", ["amount": number(-30 ... 60)])
      case 3: .filter("unsharpMask", ["radius": number(0 ... 3), "intensity": number(0 ... 0.4)])
      case 4: .filter("sharpenLuminance", ["sharpness": number(0 ... 0.4)])
      case 5: .filter("bloom", ["radius": number(0 ... 4), "intensity": number(0 ... 1)])
      case 6: .filter("gloom", ["radius": number(0 ... 4), "intensity": number(0 ... 1)])
      case 7:
        .filter(
          "convolution3X3", ["weights": .vector([0, 0.1, 0, 0.2, 0.4, 0.1, 0, 0.1, 0.05])])
      case 8:
        .filter("bumpDistortion", ["radius": number(5 ... 40), "scale": number(-0.8 ... 0.8)])
      case 9: .filter("holeDistortion", ["radius": number(2 ... 12)])
      case 10: .filter("median")
      case 11: .filter("colorInvert")
      default: .filter("hueAdjust", ["angle": number(-0.4 ... 0.4)])
      }
    if Int.random(in: 0 ..< 4, using: &random) == 0 {
      stage.mix = Double.random(in: 0 ... 1, using: &random)
    }
    if Int.random(in: 0 ..< 4, using: &random) == 0 {
      stage.region = Region(
        origin: FramePoint(
          x: Length(Double.random(in: -0.2 ... 0.8, using: &random), .width), y: Length(3)),
        width: Length(0.5, .width), height: Length(0.7, .height))
    }
    return stage
  }

  /// Three passes that round to 1/32 level, and mixes between them.
  @Test(arguments: 0 ..< 200)
  func `a random chain equals the reference`(_ seed: Int) async throws {
    var random = TestRandom(seed: UInt64(seed) &* 6151 &+ 5)
    let pipeline = Pipeline(stages: (0 ..< 3).map { _ in Self.stage(&random) })
    let geometry = FrameGeometry(
      format: PixelFormat.allCases.randomElement(using: &random) ?? .bgra8,
      size: FrameSize(
        width: Int.random(in: 1 ... 80, using: &random),
        height: Int.random(in: 1 ... 60, using: &random)),
      color: ColorDescription(
        range: YUVRange.allCases.randomElement(using: &random) ?? .video,
        matrix: YUVMatrix.allCases.randomElement(using: &random) ?? .bt601,
        alpha: AlphaMode.allCases.randomElement(using: &random) ?? .opaque))
    let frame = try TestFrame.make(geometry, seed: UInt64(seed), padding: .ragged)
    let bench = TestBench(threads: 1 + seed % 4)
    let result = try await bench.run(pipeline, on: frame)
    let worst = result.worstDifference(from: try bench.reference(pipeline, on: frame))
    #expect(worst <= 2, "\(geometry) \(pipeline)")
  }
}
