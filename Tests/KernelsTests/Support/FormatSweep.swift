import SidelightKernels
import Testing

/// Compares pipelines with the reference, over colour descriptions, sizes and paddings of a format.
enum FormatSweep {
  static let sizes = [(1, 1), (2, 3), (33, 17), (64, 48), (301, 5), (97, 130)]
    .map { FrameSize(width: $0.0, height: $0.1) }

  /// Expects every sample to be within a tolerance of the reference, in levels.
  static func compare(
    _ pipeline: Pipeline, _ format: PixelFormat, tolerance: Double = 1,
    bench: TestBench = TestBench(), index: UInt64 = 0, sizes: [FrameSize] = Self.sizes,
    frame make: (FrameGeometry, UInt64, TestFrame.Padding) throws -> Frame = {
      try TestFrame.make($0, seed: $1, padding: $2)
    },
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    for color in Self.colors(format) {
      for (number, size) in sizes.enumerated() {
        let geometry = FrameGeometry(format: format, size: size, color: color)
        let padding = TestFrame.Padding.allCases[number % 3]
        let frame = try make(geometry, UInt64(number), padding)
        let result = try await bench.run(pipeline, on: frame, index: index)
        let expected = try bench.reference(pipeline, on: frame, index: index)
        let worst = result.worstDifference(from: expected)
        #expect(
          worst <= tolerance, "\(pipeline.stages.map(\.content)) \(size) \(color)",
          sourceLocation: sourceLocation)
        let plan = try bench.catalogue.resolve(pipeline).plan(for: geometry)
        #expect(result.geometry == plan.output, sourceLocation: sourceLocation)
      }
    }
  }

  /// The colour descriptions that a format distinguishes.
  static func colors(_ format: PixelFormat) -> [ColorDescription] {
    if format.isYUV {
      return [
        ColorDescription(range: .video, matrix: .bt601),
        ColorDescription(range: .full, matrix: .bt709),
      ]
    }
    return format.hasAlpha
      ? AlphaMode.allCases.map { ColorDescription(alpha: $0) } : [ColorDescription()]
  }
}
