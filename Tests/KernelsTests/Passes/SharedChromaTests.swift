import SidelightKernels
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Compares filters that are weighted sums of pixels, on chroma that 2x2 pixels share, with sums
/// that are written out here: a pixel has its block's sample, and a block's result is the mean of
/// the results of its pixels, of which the last block along an odd side has fewer.
@Suite struct `Shared chroma` {
  /// A filter and its weights by position.
  struct Sum: CustomTestStringConvertible, Sendable {
    let stage: Stage
    /// The maximum distance of a weight, in pixels.
    let reach: Int
    let weight: @Sendable (_ dx: Int, _ dy: Int) -> Double
    var tolerance = 1
    var testDescription: String { "\(self.stage)" }

    static func gaussian(_ sigma: Double, tolerance: Int = 1) -> Sum {
      let reach = Int((sigma * 5).rounded(.up))
      @Sendable func value(_ distance: Int) -> Double {
        exp(-Double(distance * distance) / (2 * sigma * sigma))
      }
      let total = (-reach ... reach).reduce(0) { $0 + value($1) }
      return Sum(
        stage: .filter("gaussianBlur", ["radius": .number(sigma)]), reach: reach,
        weight: { value($0) * value($1) / total / total }, tolerance: tolerance)
    }

    static func box(_ radius: Double) -> Sum {
      @Sendable func value(_ distance: Int) -> Double {
        min(1, max(0, radius + 1 - Double(abs(distance))))
      }
      return Sum(
        stage: .filter("boxBlur", ["radius": .number(radius)]), reach: Int(radius) + 1,
        weight: { value($0) * value($1) / (2 * radius + 1) / (2 * radius + 1) })
    }

    /// A line of any direction: one pixel per whole step along its greater extent, between two
    /// across it.
    static func line(_ radius: Double, _ angle: Double) -> Sum {
      let (right, down) = (cos(angle), -sin(angle))
      let isFlat = abs(right) >= abs(down)
      let (major, slope) = isFlat ? (abs(right), down / right) : (abs(down), right / down)
      let half = (radius + 0.5) * major
      let reach = Int((half - 0.5).rounded(.up))
      @Sendable func value(_ dx: Int, _ dy: Int) -> Double {
        let (along, across) = isFlat ? (dx, dy) : (dy, dx)
        guard abs(along) <= reach else { return 0 }
        let distance = abs(Double(across) - Double(along) * slope)
        return min(1, half + 0.5 - Double(abs(along))) * max(0, 1 - distance)
      }
      let total = (-reach ... reach).reduce(0.0) { $0 + min(1, half + 0.5 - Double(abs($1))) }
      return Sum(
        stage: .filter("motionBlur", ["radius": .number(radius), "angle": .number(angle)]),
        reach: reach + 1, weight: { value($0, $1) / total })
    }

    static func convolution(_ name: String, _ weights: [Double]) -> Sum {
      let side = weights.count == 25 ? 5 : 3
      return Sum(
        stage: .filter(name, ["weights": .vector(weights)]), reach: side / 2,
        weight: { weights[($1 + side / 2) * side + $0 + side / 2] })
    }

    static func unsharp(_ sigma: Double, _ intensity: Double) -> Sum {
      let blur = Self.gaussian(sigma).weight
      return Sum(
        stage: .filter(
          "unsharpMask", ["radius": .number(sigma), "intensity": .number(intensity)]),
        reach: Int((sigma * 5).rounded(.up)),
        weight: { ($0 == 0 && $1 == 0 ? 1 + intensity : 0) - intensity * blur($0, $1) })
    }
  }

  static let sums: [Sum] = [
    .gaussian(0.3), .gaussian(0.5), .gaussian(1), .gaussian(2.4), .gaussian(6),
    .box(0.25), .box(0.5), .box(1), .box(1.5), .box(2.25), .box(3), .box(10),
    .line(0.6, 0), .line(1.5, .pi / 2), .line(1, 0.6), .line(3.3, -1.2), .line(12, 2.5),
    .convolution("convolution3X3", [0, 0, 0, 1, 0, 0, 0, 0, 0]),
    .convolution("convolution3X3", [0, 0, 0, 0, 0, 1, 0, 0, 0]),
    .convolution("convolution3X3", [0, 1, 0, 0, 0, 0, 0, 0, 0]),
    .convolution("convolutionRGB3X3", [0, 0, 0, 0, 0, 0, 0, 1, 0]),
    .convolution("convolution3X3", [-0.2, 0.1, 0, -0.3, 1, 0.4, 0.1, -0.5, 0.3]),
    .convolution("convolution5X5", (0 ..< 25).map { Double($0 * 7 % 11 - 4) / 20 }),
    .unsharp(0.5, 1), .unsharp(1.5, 0.7),
  ]

  static let sizes = [
    (1, 1), (1, 7), (6, 1), (2, 2), (5, 5), (7, 3), (8, 6), (33, 17), (34, 17), (33, 18),
  ].map { FrameSize(width: $0.0, height: $0.1) }

  @Test(arguments: Self.sums, [PixelFormat.i420, .nv12])
  func `plans and the reference equal the filter on full chroma`(
    _ sum: Sum, _ format: PixelFormat
  ) async throws {
    let bench = TestBench()
    for (index, size) in Self.sizes.enumerated() {
      let frame = try Self.frame(format, size, seed: UInt64(index))
      let expected = Self.chroma(frame).map { Self.filtered($0, size, sum) }
      let result = try await bench.run([sum.stage], on: frame)
      let worst = Self.worst(Self.chroma(result), expected)
      #expect(worst <= sum.tolerance, "\(size)")
      let reference = Self.chroma(format, try bench.reference([sum.stage], on: frame))
      #expect(Self.worst(reference, expected) <= 1, "\(size), the reference")
    }
  }

  /// Wide Gaussians are computed on a reduced picture.
  @Test(arguments: [10.0, 14, 30], [PixelFormat.i420, .nv12])
  func `wide blurs are within two levels of full chroma`(
    _ sigma: Double, _ format: PixelFormat
  ) async throws {
    let sum = Sum.gaussian(sigma, tolerance: 2)
    for size in [FrameSize(width: 33, height: 17), FrameSize(width: 50, height: 31)] {
      let frame = try Self.frame(format, size, seed: 5)
      let expected = Self.chroma(frame).map { Self.filtered($0, size, sum) }
      let result = try await TestBench().run([sum.stage], on: frame)
      #expect(Self.worst(Self.chroma(result), expected) <= 2, "\(size)")
    }
  }

  /// Returns the result of the weighted sum for a chroma plane, in half the size.
  private static func filtered(_ plane: [UInt8], _ size: FrameSize, _ sum: Sum) -> [UInt8] {
    let (width, height) = (size.width, size.height)
    let across = (width + 1) / 2
    var totals = Array(repeating: 0.0, count: plane.count)
    var counts = Array(repeating: 0.0, count: plane.count)
    let total = (-sum.reach ... sum.reach).reduce(0.0) { total, dy in
      (-sum.reach ... sum.reach).reduce(total) { $0 + sum.weight($1, dy) }
    }
    for y in 0 ..< height {
      for x in 0 ..< width {
        // Neutral chroma stays neutral, regardless of the weights' sum.
        var value = 128 * (1 - total)
        for dy in -sum.reach ... sum.reach {
          for dx in -sum.reach ... sum.reach {
            let weight = sum.weight(dx, dy)
            guard weight != 0 else { continue }
            let (column, row) = (min(max(x + dx, 0), width - 1), min(max(y + dy, 0), height - 1))
            value += weight * Double(plane[row / 2 * across + column / 2])
          }
        }
        totals[y / 2 * across + x / 2] += value
        counts[y / 2 * across + x / 2] += 1
      }
    }
    return zip(totals, counts).map { UInt8(min(max(($0 / $1).rounded(), 0), 255)) }
  }

  private static func chroma(_ frame: Frame) -> [[UInt8]] {
    Self.chroma(frame.format, frame.samples)
  }

  private static func chroma(_ format: PixelFormat, _ planes: [[UInt8]]) -> [[UInt8]] {
    guard format == .nv12 else { return [planes[1], planes[2]] }
    return (0 ... 1).map { channel in
      stride(from: channel, to: planes[1].count, by: 2).map { planes[1][$0] }
    }
  }

  private static func worst(_ actual: [[UInt8]], _ expected: [[UInt8]]) -> Int {
    zip(actual.joined(), expected.joined()).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
  }

  /// A picture whose chroma differs from sample to sample by as much as it may.
  private static func frame(
    _ format: PixelFormat, _ size: FrameSize, seed: UInt64
  ) throws -> Frame {
    var random = TestRandom(seed: seed + 11)
    return try TestFrame.make(
      FrameGeometry(format: format, size: size), padding: .ragged
    ) { _, _, _, _ in UInt8.random(in: 16 ... 240, using: &random) }
  }
}
