import SidelightKernels
import Testing

/// Passes that compute bytes from bytes, compared with passes that compute the same in floats.
@Suite struct `Functions of bytes without strips` {
  private static let curve = Stage.filter(
    "toneCurve", ["point1": .vector([0.25, 0.1]), "point3": .vector([0.75, 0.9])])
  private static let sizes = [(1, 1), (7, 3), (33, 17), (301, 5)]
    .map { FrameSize(width: $0.0, height: $0.1) }

  /// The colour channels by byte, identified by their numbers without the other channels.
  private static func colors(_ frame: Frame) -> [[UInt8]] {
    let step = frame.format == .rgb24 ? 3 : 4
    let order = frame.format == .bgra8 ? [2, 1, 0] : [0, 1, 2]
    let samples = frame.samples[0]
    return order.map { channel in
      stride(from: channel, to: samples.count, by: step).map { samples[$0] }
    }
  }

  /// Compares a pipeline on a format with its result in another order of channels, which needs
  /// strips.
  private static func compare(_ pipeline: Pipeline, _ format: PixelFormat, _ alpha: AlphaMode)
    async throws
  {
    let bench = TestBench()
    let color = ColorDescription(alpha: alpha)
    let other = FrameEncoding(format: format == .bgra8 ? .rgba8 : .bgra8, color: color)
    let resolved = try bench.catalogue.resolve(pipeline)
    for (index, size) in Self.sizes.enumerated() {
      let geometry = FrameGeometry(format: format, size: size, color: color)
      let frame = try TestFrame.make(
        geometry, seed: UInt64(index), padding: TestFrame.Padding.allCases[index % 3])
      let plan = resolved.plan(for: geometry)
      #expect(plan.passes.map { $0.summary.hasSuffix("on bytes") } == [true], "\(plan)")
      let converted = resolved.plan(for: geometry, as: other)
      #expect(converted.passes.map { $0.summary.hasSuffix("in strips") } == [true], "\(converted)")
      let result = try await bench.executor.run(plan, on: frame)
      let expected = try await bench.executor.run(converted, on: frame)
      #expect(Self.colors(result) == Self.colors(expected), "\(pipeline) at \(size)")
      guard format.hasAlpha else { continue }
      let alphas = [frame, result].map { frame in
        stride(from: 3, to: frame.samples[0].count, by: 4).map { frame.samples[0][$0] }
      }
      #expect(alphas[0] == alphas[1])
    }
  }

  @Test(
    arguments: [
      [Self.curve], [.filter("gammaAdjust", ["power": .number(0.7)])],
      [.filter("colorInvert"), Self.curve, .filter("exposureAdjust", ["ev": .number(0.5)])],
      [.filter("glow")], [.filter("glow", ["intensity": .number(-7)])],
    ] as [Pipeline],
    [
      (PixelFormat.bgra8, AlphaMode.opaque), (.bgra8, .straight), (.rgba8, .opaque),
      (.rgba8, .straight), (.rgb24, .opaque),
    ])
  func `the results are the bytes of strips`(
    _ pipeline: Pipeline, _ geometry: (format: PixelFormat, alpha: AlphaMode)
  ) async throws {
    try await Self.compare(pipeline, geometry.format, geometry.alpha)
  }

  @Test func `a mix of functions of each channel is one, without alpha`() async throws {
    let darker = FilterCall(name: "toneCurve", parameters: ["point2": .vector([0.5, 0.3])])
    try await Self.compare([Stage(.filter(darker), mix: 0.4)], .bgra8, .opaque)
  }
}
