import SidelightKernels
import Testing

/// Colour filters and pointwise effects on all formats against the naive reference.
@Suite struct `Colour filters and the reference` {
  static let pipelines: [Pipeline] = [
    [
      .filter(
        "colorMatrix",
        [
          "rVector": .vector([0.5, 0.3, 0.1, 0.05]), "gVector": .vector([0, 0.8, 0.1, 0]),
          "bVector": .vector([0.2, 0, 0.7, 0]), "biasVector": .vector([0.02, -0.05, 0.1, 0]),
        ])
    ],
    [.filter("colorMatrix", ["aVector": .vector([0.3, 0.3, 0, 0.5])])],
    [.filter("exposureAdjust", ["ev": .number(0.7)])],
    [.filter("exposureAdjust", ["ev": .number(-1.5)])],
    [.filter("gammaAdjust", ["power": .number(2.2)])],
    [.filter("gammaAdjust", ["power": .number(0.45)])],
    [.filter("vibrance", ["amount": .number(0.8)])],
    [
      .filter(
        "toneCurve",
        [
          "point0": .vector([0, 0.1]), "point1": .vector([0.25, 0.15]),
          "point3": .vector([0.7, 0.9]),
        ])
    ],
    [
      .filter(
        "colorBalance",
        [
          "shadows": .vector([-0.2, 0.1, 0.5]), "midtones": .vector([0.3, 0, -0.1]),
          "highlights": .vector([0.4, 0.2, -0.3]),
        ])
    ],
    [
      .filter(
        "colorBalance", ["shadows": .vector([0.2, -0.1, 0.6]), "keepsLuma": .flag(false)])
    ],
    [.filter("vibrance", ["amount": .number(-1)])],
    [.filter("whitePointAdjust", ["color": .vector([1, 0.9, 0.7])])],
    [.filter("temperatureAndTint", ["neutral": .vector([5500, 0])])],
    [
      .filter(
        "temperatureAndTint",
        ["neutral": .vector([6500, 0]), "targetNeutral": .vector([4000, 40])])
    ],
    [.filter("glow")],
    [.filter("glow", ["intensity": .number(1)])],
    [.filter("grain")],
    [.filter("grain", ["amount": .number(0.5), "seed": .number(7), "monochrome": .flag(false)])],
    [.filter("randomGenerator", ["seed": .number(3)])],
    [.filter("vintage")],
    [.filter("vintageWarm")],
    [.filter("posterize")],
    [.filter("posterize", ["levels": .number(17)])],
    [.filter("dotScreen")],
    [
      .filter(
        "dotScreen",
        [
          "angle": .number(0.6), "width": .number(9.5), "sharpness": .number(0.2),
          "center": .vector([3, 4]),
        ])
    ],
    [.filter("vignetteEffect", ["radius": .number(30)])],
    [.filter("vignetteEffect", ["radius": .number(20), "falloff": .number(0)])],
    [
      .filter(
        "vignetteEffect",
        ["radius": .length(Length(0.5, .width)), "intensity": .number(-0.6)])
    ],
  ]

  @Test(arguments: Self.pipelines, PixelFormat.allCases)
  func `results are within a level of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await FormatSweep.compare(pipeline, format, index: 3)
  }

  @Test(
    arguments: [
      "Chrome", "Fade", "Instant", "Mono", "Noir", "Process", "Tonal", "Transfer",
    ], PixelFormat.allCases)
  func `a photo effect is within a level of its curves`(
    _ name: String, _ format: PixelFormat
  ) async throws {
    try await FormatSweep.compare([.filter("photoEffect\(name)")], format)
  }

  @Test(arguments: PixelFormat.allCases)
  func `a large circle, which is sampled on a grid, is within a level`(
    _ format: PixelFormat
  ) async throws {
    let geometry = FrameGeometry(
      format: format, size: FrameSize(width: 640, height: 361),
      color: ColorDescription(alpha: .opaque))
    let frame = try TestFrame.make(geometry, seed: 4)
    let pipeline: Pipeline = [
      .filter("vignetteEffect", ["radius": .length(Length(0.3, .width))])
    ]
    let bench = TestBench()
    let result = try await bench.run(pipeline, on: frame)
    #expect(result.worstDifference(from: try bench.reference(pipeline, on: frame)) <= 1)
  }

  @Test(
    arguments: [
      "vintage", "randomGenerator", "dotScreen", "photoEffectInstant", "glow", "vignetteEffect",
    ], [FrameSize(width: 16384, height: 1), FrameSize(width: 1, height: 16384)])
  func `results are within a level on the longest rows and columns`(
    _ name: String, _ size: FrameSize
  ) async throws {
    let frame = try TestFrame.make(
      FrameGeometry(format: .nv12, size: size, color: ColorDescription(alpha: .opaque)),
      padding: .ragged
    ) { plane, x, y, _ in UInt8((x * 3 + y * 5 + plane * 40) % 200 + 20) }
    let bench = TestBench()
    let result = try await bench.run([.filter(name)], on: frame)
    let expected = try bench.reference([.filter(name)], on: frame)
    #expect(result.worstDifference(from: expected) <= 1)
  }

  /// Chains of steps that fold and steps that do not, without jumps, which would turn a rounding
  /// error into a level of the poster.
  @Test(arguments: 0 ..< 120)
  func `a random chain equals the reference`(_ seed: Int) async throws {
    var random = TestRandom(seed: UInt64(seed) &* 104_729 &+ 5)
    func number(_ range: ClosedRange<Double>) -> ParameterValue {
      .number(Double.random(in: range, using: &random))
    }
    var stages: [Stage] = []
    for _ in 0 ..< Int.random(in: 1 ... 5, using: &random) {
      var stage: Stage =
        switch Int.random(in: 0 ..< 10, using: &random) {
        case 0: .filter("exposureAdjust", ["ev": number(-0.4 ... 0.3)])
        case 1: .filter("gammaAdjust", ["power": number(0.8 ... 1.4)])
        case 2: .filter("vibrance", ["amount": number(-0.5 ... 0.5)])
        case 3: .filter("glow", ["intensity": number(0 ... 1)])
        case 4: .filter("grain", ["amount": number(0 ... 0.3)])
        case 5: .filter("photoEffectFade")
        case 6:
          .filter("temperatureAndTint", ["neutral": .vector([Double(seed % 9) * 500 + 4000, 0])])
        case 7: .filter("vignetteEffect", ["radius": number(5 ... 80)])
        case 8: .filter("gaussianBlur", ["radius": number(0 ... 3)])
        default: .filter("vintage")
        }
      if Bool.random(using: &random) { stage.mix = Double.random(in: 0 ... 1, using: &random) }
      stages.append(stage)
    }
    let format = PixelFormat.allCases[seed % 6]
    let geometry = FrameGeometry(
      format: format,
      size: FrameSize(
        width: Int.random(in: 1 ... 70, using: &random),
        height: Int.random(in: 1 ... 50, using: &random)),
      color: ColorDescription(alpha: AlphaMode.allCases[seed % 3]))
    let frame = try TestFrame.make(geometry, seed: UInt64(seed))
    let bench = TestBench(threads: 1 + seed % 4)
    let pipeline = Pipeline(stages: stages)
    let result = try await bench.run(pipeline, on: frame, index: UInt64(seed))
    let expected = try bench.reference(pipeline, on: frame, index: UInt64(seed))
    #expect(result.worstDifference(from: expected) <= 1.5, "\(geometry) \(pipeline)")
  }
}
