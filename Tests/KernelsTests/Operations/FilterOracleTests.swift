import SidelightKernels
import Testing

/// All filters on all formats against the naive reference in double precision.
@Suite("Filters and the reference") struct FilterOracleTests {
  static let pipelines: [Pipeline] = [
    [.filter("sepiaTone", ["intensity": .number(0.8)])],
    [.filter("hueAdjust", ["angle": .number(3.14)])],
    [.filter("colorControls", ["saturation": .number(1.6), "contrast": .number(1.3)])],
    [.filter("colorControls", ["brightness": .number(-0.2), "contrast": .number(3)])],
    [.filter("vignette", ["intensity": .number(1.2), "radius": .number(2)])],
    [.filter("vignette", ["intensity": .number(-0.7), "radius": .number(0.5)])],
    [.filter("gaussianBlur", ["radius": .number(0.7)])],
    [.filter("gaussianBlur", ["radius": .number(2.5)])],
    [.filter("pixellate")],
    [.filter("pixellate", ["scale": .number(12), "center": .vector([5, 3])])],
    [.filter("pixellate", ["scale": .number(3.7)])],
  ]

  static let pointwise: [Pipeline] = [
    // The values that the first two leave in the corners exceed 16 bits until the third.
    [
      .filter("vignette", ["intensity": .number(-1)]),
      .filter("vignette", ["intensity": .number(-1)]),
      .filter(
        "vignetteEffect",
        [
          "center": .vector([-5000, 0]), "radius": .number(100), "intensity": .number(0.5),
        ]),
    ],
    [
      .filter(
        "colorMatrix",
        ["rVector": .vector([0.5, 0.3, 0.1, 0.1]), "biasVector": .vector([0, 0.1, -0.1, 0])])
    ],
    [.filter("temperatureAndTint", ["targetNeutral": .vector([4200, 40])])],
    [.filter("lumaKey", ["low": .number(0.2), "high": .number(0.7)])],
    [
      .filter(
        "lumaKey",
        [
          "low": .number(0.3), "high": .number(0.9), "invert": .flag(true),
          "backgroundColor": .vector([0.2, 0.5, 0.9, 0.7]),
        ])
    ],
    [
      .filter("colorInvert"),
      .filter(
        "lumaKey",
        ["low": .number(0.1), "high": .number(0.8), "backgroundImage": .text("source")]),
    ],
    [.filter("grain", ["amount": .number(0.4), "seed": .number(9)])],
    [.filter("grain", ["amount": .number(0.4), "monochrome": .flag(false)])],
    [.filter("photoEffectNoir"), .filter("colorInvert")],
    [.filter("dotScreen", ["angle": .number(0.4)])],
    [
      .filter("sepiaTone", ["intensity": .number(0.8)]),
      .filter("temperatureAndTint", ["targetNeutral": .vector([5500, 0])]),
      .filter("vignette", ["intensity": .number(1.2), "radius": .number(2)]),
      .filter("colorControls", ["saturation": .number(1.2), "brightness": .number(0.05)]),
      .filter("grain", ["amount": .number(0.1)]),
      .filter("colorControls", ["brightness": .number(0.1)]),
    ],
  ]

  @Test(arguments: Self.pointwise, PixelFormat.allCases)
  func `other pointwise filters are within a level of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await Self.compare(pipeline, format, tolerance: 1)
  }

  static let wideBlurs: [Pipeline] = [
    [.filter("gaussianBlur")],
    [.filter("gaussianBlur", ["radius": .number(25)])],
    [.filter("gaussianBlur", ["radius": .length(Length(0.5, .width))])],
  ]

  static let sizes = [(1, 1), (2, 3), (33, 17), (64, 48), (301, 5), (97, 130)]
    .map { FrameSize(width: $0.0, height: $0.1) }

  @Test(arguments: Self.pipelines, PixelFormat.allCases)
  func `results are within a level of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await Self.compare(pipeline, format, tolerance: 1)
  }

  /// Wide blurs work on a reduced picture; alpha that jumps from pixel to pixel costs them a level.
  @Test(arguments: Self.wideBlurs, PixelFormat.allCases)
  func `wide blurs are within two levels of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await Self.compare(pipeline, format, tolerance: 2)
  }

  private static func compare(
    _ pipeline: Pipeline, _ format: PixelFormat, tolerance: Double
  ) async throws {
    let bench = TestBench()
    for color in Self.colors(format) {
      for (index, size) in Self.sizes.enumerated() {
        let geometry = FrameGeometry(format: format, size: size, color: color)
        let padding = TestFrame.Padding.allCases[index % 3]
        let frame = try TestFrame.make(geometry, seed: UInt64(index), padding: padding)
        let result = try await bench.run(pipeline, on: frame)
        let expected = try bench.reference(pipeline, on: frame)
        let worst = result.worstDifference(from: expected)
        #expect(worst <= tolerance, "\(size) \(color) \(padding)")
        #expect(result.geometry == geometry)
      }
    }
  }

  /// The colour descriptions that a format distinguishes.
  static func colors(_ format: PixelFormat) -> [ColorDescription] {
    if format.isYUV {
      return YUVRange.allCases.flatMap { range in
        YUVMatrix.allCases.map { ColorDescription(range: range, matrix: $0) }
      }
    }
    return format.hasAlpha
      ? AlphaMode.allCases.map { ColorDescription(alpha: $0) } : [ColorDescription()]
  }
}
