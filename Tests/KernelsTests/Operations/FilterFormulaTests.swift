import SidelightKernelLanguage
import SidelightKernels
import SidelightReference
import Testing

/// The figures of the documented formulas, computed by hand.
@Suite struct `Formulas of colour filters` {
  /// Returns the colour that a filter of one matrix computes.
  static func color(
    _ name: String, _ parameters: [String: ParameterValue], _ pixel: SIMD4<Double>
  ) throws -> SIMD4<Double> {
    let pipeline = try FilterCatalogue.builtIn.resolve([.filter(name, parameters)])
    var picture = ReferencePicture(
      try TestFrame.flat(
        FrameGeometry(format: .rgba8, size: FrameSize(width: 1, height: 1)), 255))
    picture.pixels = [pixel]
    return ReferenceInterpreter().apply(pipeline, to: picture).pixels[0]
  }

  static func near(_ left: SIMD4<Double>, _ right: SIMD4<Double>) -> Bool {
    let difference = left - right
    return (difference * difference).sum() < 1e-12
  }

  static let pixel: SIMD4<Double> = [0.2, 0.6, 0.9, 0.5]

  @Test func `sepia weighs the channels by its matrix`() throws {
    let expected: SIMD4<Double> = [
      0.3588 * 0.2 + 0.7044 * 0.6 + 0.1368 * 0.9, 0.2990 * 0.2 + 0.5870 * 0.6 + 0.1140 * 0.9,
      0.2392 * 0.2 + 0.4696 * 0.6 + 0.0912 * 0.9, 0.5,
    ]
    #expect(Self.near(try Self.color("sepiaTone", [:], Self.pixel), expected))
    let half = try Self.color("sepiaTone", ["intensity": .number(0.5)], Self.pixel)
    #expect(Self.near(half, (expected + Self.pixel) / 2))
  }

  @Test func `grey is Rec. 709 luma`() throws {
    let luma = 0.2126 * 0.2 + 0.7152 * 0.6 + 0.0722 * 0.9
    #expect(Self.near(try Self.color("grayscale", [:], Self.pixel), [luma, luma, luma, 0.5]))
  }

  @Test func `the inverse is one minus the colour, with its alpha`() throws {
    #expect(Self.near(try Self.color("colorInvert", [:], Self.pixel), [0.8, 0.4, 0.1, 0.5]))
  }

  @Test func `controls saturate, then brighten, then contrast`() throws {
    let luma = 0.2126 * 0.2 + 0.7152 * 0.6 + 0.0722 * 0.9
    func expected(_ channel: Double) -> Double {
      (luma + 1.5 * (channel - luma) + 0.1 - 0.5) * 2 + 0.5
    }
    let result = try Self.color(
      "colorControls",
      ["saturation": .number(1.5), "brightness": .number(0.1), "contrast": .number(2)],
      Self.pixel)
    #expect(Self.near(result, [expected(0.2), expected(0.6), expected(0.9), 0.5]))
  }

  @Test(arguments: [PixelFormat.rgb24, .bgra8])
  func `a bias is rounded to the unit of the integers`(_ format: PixelFormat) async throws {
    let frame = try TestFrame.flat(
      FrameGeometry(format: format, size: FrameSize(width: 33, height: 2)), 100)
    // 4096.8 units of 1/8192 level: 4096 would be half a level, which is rounded up.
    let bias = -0.5001 / 255
    let result = try await TestBench().run(
      [.filter("colorMatrix", ["biasVector": .vector([bias, bias, bias, 0])])], on: frame)
    let expected: [UInt8] = format == .rgb24 ? [99, 99, 99] : [99, 99, 99, 100]
    for pixel in stride(from: 0, to: result.samples[0].count, by: expected.count) {
      #expect(result.samples[0][pixel ..< pixel + expected.count].elementsEqual(expected))
    }
  }

  @Test func `a hue rotation by pi has weights of a third and two thirds`() throws {
    let result = try Self.color("hueAdjust", ["angle": .number(.pi)], [1, 0, 0, 1])
    #expect(Self.near(result, [-1.0 / 3, 2.0 / 3, 2.0 / 3, 1]))
  }

  @Test func `a hue rotation by a third of a circle maps red to green`() throws {
    let result = try Self.color("hueAdjust", ["angle": .number(2 * .pi / 3)], [1, 0, 0, 1])
    #expect(Self.near(result, [0, 1, 0, 1]))
  }

  @Test func `a hue rotation keeps greys`() throws {
    let result = try Self.color("hueAdjust", ["angle": .number(1)], [0.4, 0.4, 0.4, 1])
    #expect(Self.near(result, [0.4, 0.4, 0.4, 1]))
  }

  @Test func `a vignette keeps the centre and removes three quarters at its radius`() async throws {
    let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: 301, height: 301))
    let frame = try TestFrame.flat(geometry, 200)
    let result = try await TestBench().run(
      [.filter("vignette", ["intensity": .number(1), "radius": .number(0.5)])], on: frame)
    #expect(result.samples[0][150 * 301 + 150] == 200)
    // Half of the half diagonal, to the right: 150.5 * sqrt 2 / 2 = 106.4 pixels.
    #expect(abs(Int(result.samples[0][150 * 301 + 150 + 106]) - 50) <= 1)
  }
}
