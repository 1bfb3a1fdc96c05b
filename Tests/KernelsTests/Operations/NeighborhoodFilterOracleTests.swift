import SidelightKernels
import Testing

/// All neighbourhood filters, on all formats, against the naive reference.
@Suite struct `Neighbourhood filters and the reference` {
  static let emboss = ParameterValue.vector([0, 1, 0, -1, 0, 1, 0, -1, 0])
  static let uneven = ParameterValue.vector((0 ..< 25).map { Double($0 * 7 % 11 - 4) / 20 })

  static let pipelines: [Pipeline] = [
    [.filter("boxBlur", ["radius": .number(1)])],
    [.filter("boxBlur", ["radius": .number(0.3)])],
    [.filter("boxBlur", ["radius": .number(2.7)])],
    [.filter("boxBlur")],
    [.filter("boxBlur", ["radius": .number(200)])],
    [.filter("motionBlur")],
    [.filter("motionBlur", ["angle": .number(0.5)])],
    [.filter("motionBlur", ["angle": .number(.pi / 2), "radius": .number(7)])],
    [.filter("motionBlur", ["angle": .number(-1.2), "radius": .number(3.3)])],
    [.filter("motionBlur", ["angle": .number(2.5), "radius": .number(0.6)])],
    [.filter("motionBlur", ["angle": .number(-2), "radius": .number(90)])],
    [.filter("zoomBlur")],
    [.filter("zoomBlur", ["amount": .number(200)])],
    [.filter("zoomBlur", ["amount": .number(0.05)])],
    [.filter("zoomBlur", ["amount": .number(130), "center": .vector([20, 9])])],
    [.filter("zoomBlur", ["amount": .number(-60), "center": .vector([-30, 2.5])])],
    [.filter("median")],
    [.filter("unsharpMask")],
    [.filter("unsharpMask", ["radius": .number(0.5), "intensity": .number(6)])],
    [.filter("sharpenLuminance")],
    [.filter("sharpenLuminance", ["sharpness": .number(-0.7), "radius": .number(3)])],
    [.filter("bloom", ["radius": .number(2)])],
    [.filter("convolution3X3", ["weights": Self.emboss, "bias": .number(0.6)])],
    [.filter("convolution3X3", ["weights": .vector([0, -1, 0, -1, 5, -1, 0, -1, 0])])],
    [.filter("convolution3X3", ["weights": .vector([0, 0, 0, 0, 0, 0, 0, 0, 0])])],
    [.filter("convolutionRGB3X3", ["weights": Self.emboss, "bias": .number(0.6)])],
    [.filter("convolution5X5", ["weights": Self.uneven, "bias": .number(-0.1)])],
    [.filter("gloom", ["radius": .number(3), "intensity": .number(1)])],
  ]

  static let warps: [Pipeline] = [
    [.filter("holeDistortion", ["radius": .number(20)])],
    [.filter("holeDistortion")],
    [.filter("holeDistortion", ["radius": .number(3), "center": .vector([-4, 11.3])])],
    [.filter("bumpDistortion", ["radius": .number(40)])],
    [.filter("bumpDistortion", ["scale": .number(-1)])],
    [.filter("pinchDistortion", ["radius": .number(50), "scale": .number(2)])],
    [.filter("twirlDistortion", ["radius": .number(60)])],
    [.filter("twirlDistortion", ["angle": .number(-9), "center": .vector([3, 3])])],
  ]

  @Test(arguments: Self.warps, PixelFormat.allCases)
  func `distorted pixels are within a level of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await Self.compare(pipeline, format, tolerance: 1)
  }

  /// Wide Gaussians work on a reduced picture, which costs them a level; magnifying filters magnify
  /// the error too.
  static let wide: [Pipeline] = [
    [.filter("unsharpMask", ["radius": .number(40)])],
    [.filter("sharpenLuminance", ["radius": .number(12), "sharpness": .number(1)])],
    [.filter("sharpenLuminance", ["sharpness": .number(40)])],
    [.filter("bloom")],
    [.filter("bloom", ["radius": .number(25), "intensity": .number(1)])],
    [.filter("gloom")],
  ]

  @Test(arguments: Self.pipelines, PixelFormat.allCases)
  func `results are within a level of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await Self.compare(pipeline, format, tolerance: 1)
  }

  @Test(arguments: Self.wide, PixelFormat.allCases)
  func `wide blurs are within two levels of the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await Self.compare(pipeline, format, tolerance: 2)
  }

  private static func compare(
    _ pipeline: Pipeline, _ format: PixelFormat, tolerance: Double
  ) async throws {
    let bench = TestBench()
    for color in FilterOracleTests.colors(format) {
      for (index, size) in FilterOracleTests.sizes.enumerated() {
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
}
