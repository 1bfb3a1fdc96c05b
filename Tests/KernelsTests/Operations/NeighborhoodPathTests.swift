import SidelightKernels
import Testing

/// Filters select C rows by radius, weights, depth and size: all choices against the naive
/// reference.
@Suite struct `Code paths of neighbourhood filters` {
  static let formats: [PixelFormat] = [.bgra8, .rgb24, .gray8, .nv12]

  /// Up to 31.6 in 16 bits both ways, up to 128 one way, and wider ones in 32.
  static let radii = [0.01, 0.4, 1, 2.5, 15.2, 31, 31.8, 33, 127, 128.5, 140]

  @Test(arguments: Self.radii, Self.formats)
  func `boxes of any radius equal the reference`(
    _ radius: Double, _ format: PixelFormat
  ) async throws {
    try await FormatSweep.compare([.filter("boxBlur", ["radius": .number(radius)])], format)
  }

  @Test(arguments: Self.radii, Self.formats)
  func `horizontal and vertical lines of any length equal the reference`(
    _ radius: Double, _ format: PixelFormat
  ) async throws {
    for angle in [0, Double.pi / 2] {
      let line = Stage.filter("motionBlur", ["radius": .number(radius), "angle": .number(angle)])
      try await FormatSweep.compare([line], format)
    }
  }

  /// In integers if they are, or nearly; else in floats.
  static let weights: [[Double]] = [
    [0, 0, 0, 0, 0, 0, 0, 0, 1],
    [0, 0, 0, 0.5, 0, 0.25, 0, 0, 0.25],
    [0, 0, 0, 0, -1, 0, 0, 0, 0],
    [-1, -1, -1, -1, 9, -1, -1, -1, -1],
    [1.0 / 3, 0, -1.0 / 3, 2.0 / 3, 0, -2.0 / 3, 1.0 / 3, 0, -1.0 / 3],
  ]

  @Test(arguments: Self.weights, Self.formats)
  func `integer, fractional and large weights equal the reference`(
    _ weights: [Double], _ format: PixelFormat
  ) async throws {
    let stage = Stage.filter(
      "convolutionRGB3X3", ["weights": .vector(weights), "bias": .number(0.2)])
    try await FormatSweep.compare([stage], format)
  }

  /// Not with alpha, where magnification includes the rounding of a picture that was multiplied by
  /// it.
  @Test(arguments: [PixelFormat.rgb24, .gray8, .nv12])
  func `weights that are too large for integers equal the reference`(
    _ format: PixelFormat
  ) async throws {
    let weights = [100.0 / 3, -100.0 / 7, 0, 0, -55.0 / 3, 0, 0, 0, 0.3]
    let stage = Stage.filter("convolutionRGB3X3", ["weights": .vector(weights)])
    try await FormatSweep.compare([stage], format)
  }

  /// Before and after another filter, pictures are deep.
  static let depths: [Pipeline] = [
    [.filter("median"), .filter("median")],
    [.filter("median"), .filter("orient", ["quarterTurns": .number(1)]), .filter("median")],
    [.filter("orient", ["quarterTurns": .number(3)]), .filter("median")],
    [.filter("orient", ["quarterTurns": .number(2)]), .filter("median")],
    [
      .filter("median"),
      .filter("orient", ["quarterTurns": .number(1), "mirrored": .flag(true)]),
    ],
    [.filter("median"), .filter("orient", ["mirrored": .flag(true)])],
    [.filter("median"), .filter("holeDistortion", ["radius": .number(12)])],
    [.filter("median"), .filter("scale", ["width": .number(77), "height": .number(41)])],
    [.filter("scale", ["width": .number(20), "height": .number(90)]), .filter("median")],
  ]

  @Test(arguments: Self.depths, PixelFormat.allCases)
  func `every combination of depths equals the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await FormatSweep.compare(pipeline, format)
  }

  /// More than 32 neighbours are summed in floats, fewer in integers; pictures that become higher
  /// are resampled along their rows first.
  static let sizes = [(1, 1), (2, 300), (300, 2), (33, 17), (150, 130), (301, 4), (9, 3)]

  @Test(arguments: Self.sizes, Self.formats)
  func `enlarging and shrinking equal the reference`(
    _ size: (width: Int, height: Int), _ format: PixelFormat
  ) async throws {
    let stage = Stage.filter(
      "scale", ["width": .number(Double(size.width)), "height": .number(Double(size.height))])
    try await FormatSweep.compare([stage], format)
  }

  /// Polynomials where a tile's distances allow it, else tables.
  static let warps: [Pipeline] = [
    [.filter("holeDistortion", ["radius": .number(1.5), "center": .vector([150, 3])])],
    [.filter("holeDistortion", ["radius": .number(40), "center": .vector([-30, 50])])],
    [.filter("bumpDistortion", ["radius": .number(4), "scale": .number(0.8)])],
    [.filter("pinchDistortion", ["radius": .number(200), "scale": .number(-1)])],
    [.filter("twirlDistortion", ["radius": .number(150), "angle": .number(12)])],
  ]

  @Test(arguments: Self.warps, Self.formats)
  func `smooth and steep maps equal the reference`(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) async throws {
    try await FormatSweep.compare(pipeline, format)
  }
}
