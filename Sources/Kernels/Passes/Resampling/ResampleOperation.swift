import CKernels

/// A resampling of a rectangle of the frame to a size.
package struct ResampleOperation: NeighborhoodOperation {
  /// The top left corner, in pixels of the input.
  package let origin: (x: Double, y: Double)
  /// The size of the rectangle, in pixels of the input.
  package let extent: (width: Double, height: Double)
  package let size: FrameSize

  package init(
    origin: (x: Double, y: Double), extent: (width: Double, height: Double), size: FrameSize
  ) {
    self.origin = origin
    self.extent = extent
    self.size = size
  }

  package var kind: PassDescription.Kind { .warp }

  package var mixesPixels: Bool {
    let (x, y) = self.origin
    let isWhole = x.rounded() == x && y.rounded() == y
    return !isWhole || self.step != (1, 1)
  }

  package var summary: String {
    let step = self.step
    let taken = "from \(self.origin.x), \(self.origin.y)"
    if step.x == 1, step.y == 1 { return "a rectangle of \(self.size) \(taken)" }
    return "\(self.extent.width)x\(self.extent.height) \(taken), resampled to \(self.size)"
  }

  /// Pixels of the input per pixel of the output.
  package var step: (x: Double, y: Double) {
    (self.extent.width / Double(self.size.width), self.extent.height / Double(self.size.height))
  }

  package func output(for geometry: FrameGeometry) -> FrameGeometry {
    FrameGeometry(format: geometry.format, size: self.size, color: geometry.color)
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
    let planes = PlaneShape.planes(setting.geometry.format, setting.geometry.size)
    let results = PlaneShape.planes(setting.geometry.format, self.size)
    return ResamplePass(
      description: setting.description,
      keepsFourthChannel: setting.keepsFourthChannel && self.size == setting.geometry.size,
      planes: zip(planes, results).map { source, result in
        // In samples of the plane: positions scale with the plane, steps do not.
        PlaneResampler(
          source: source,
          horizontal: ResampleAxis(
            source: source.width, count: result.width, origin: self.origin.x * source.scale,
            step: self.step.x),
          vertical: ResampleAxis(
            source: source.height, count: result.height, origin: self.origin.y * source.scale,
            step: self.step.y))
      })
  }
}

/// Resampling of every plane along rows and columns.
package struct ResamplePass: Pass {
  package let description: PassDescription
  let keepsFourthChannel: Bool
  let planes: [PlaneResampler]

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    let shapes = PlaneShape.planes(context.output.format, context.output.size)
    for (shape, plane) in zip(shapes, self.planes) {
      let writer = RowWriter(
        context, shape, fractionBits: 5, keepsAlpha: self.keepsFourthChannel)
      let read = Double(plane.source.samples * shape.height * plane.vertical.taps)
      let written = Double(shape.samples * shape.height * plane.horizontal.taps)
      await context.bands.run(rows: shape.height, nanoseconds: read * 0.1 + written * 0.5) { band in
        unsafe plane.run(band, from: source) { y, samples in
          unsafe writer.write(samples, y: y, sl_rows_current().pointee)
        }
      }
    }
  }
}

extension FilterNode {
  /// Resamples a rectangle of the frame to a size: linear interpolation where it grows, the mean of
  /// the covered area where it shrinks. The result has that size.
  ///
  /// - Parameters:
  ///   - origin: The top left corner, in pixels.
  ///   - extent: The size of the rectangle, in pixels. Beyond the frame it reads the pixels at the
  ///     edge.
  ///   - size: The size of the result, 1 ... ``FrameLayout/maxDimension`` in either direction.
  package static func resample(
    from origin: (x: Double, y: Double), extent: (width: Double, height: Double), to size: FrameSize
  ) -> FilterNode {
    FilterNode(.neighborhood(ResampleOperation(origin: origin, extent: extent, size: size)))
  }
}

/// The weights of the source's samples in the samples of a resampled row or column.
///
/// For a step of at most 1, linear interpolation between the two nearest centres; for a greater
/// step, the mean over the covered interval. The samples at the ends repeat beyond them.
package struct ResampleAxis: Sendable, Hashable {
  /// The number of resampled samples.
  package let count: Int
  /// The number of taps per sample.
  package let taps: Int
  /// The first tap of every sample.
  package let starts: [Int32]
  /// The weights, ``taps`` per sample; their sum is 1.
  package let weights: [Float]
  /// The axis in integers; `nil` for too many taps for exact weights, or too few samples.
  let fixed: FixedResampleAxis?

  /// Creates an axis.
  ///
  /// - Parameters:
  ///   - source: The number of source samples.
  ///   - count: The number of resampled samples.
  ///   - origin: The start of the first resampled sample, in source samples from the first sample's
  ///     edge.
  ///   - step: The number of source samples per sample, greater than 0.
  package init(source: Int, count: Int, origin: Double, step: Double) {
    let sums = (0 ..< count).map { index in
      Self.neighbors(from: origin + Double(index) * step, step: step, source: source)
    }
    let taps = sums.reduce(1) { max($0, $1.weights.count) }
    self.count = count
    self.taps = min(taps, source)
    var starts: [Int32] = []
    var weights: [Float] = []
    for sum in sums {
      // All samples have the same number of taps: the last ones begin earlier.
      let start = min(sum.start, source - self.taps)
      let before = sum.start - start
      starts.append(Int32(start))
      weights += Array(repeating: 0, count: before)
      weights += sum.weights.map { Float($0) }
      weights += Array(repeating: 0, count: self.taps - before - sum.weights.count)
    }
    self.starts = starts
    self.weights = weights
    self.fixed = FixedResampleAxis(
      source: source, taps: self.taps, starts: starts, weights: weights)
  }

  /// The taps and weights of a sample that begins at a position.
  static func neighbors(
    from low: Double, step: Double, source: Int
  ) -> (start: Int, weights: [Double]) {
    let limit = source - 1
    func clamped(_ position: Double) -> Int { Int(min(max(position, 0), Double(limit))) }
    if step > 1 {
      let (start, end) = (clamped(low.rounded(.down)), clamped((low + step).rounded(.up) - 1))
      // The samples at the ends extend to infinity: a step may be longer than the source.
      let weights = (start ... end).map { index in
        let left = index == 0 ? -Double.infinity : Double(index)
        let right = index == limit ? Double.infinity : Double(index + 1)
        return max(0, min(right, low + step) - max(left, low)) / step
      }
      return (start, weights)
    }
    let center = low + step / 2 - 0.5
    let first = center.rounded(.down)
    let (start, end) = (clamped(first), clamped(first + 1))
    let fraction = center - first
    return (start, start == end ? [1] : [1 - fraction, fraction])
  }
}

/// A resampled axis in integers: an even number of taps, with 16-bit weights.
struct FixedResampleAxis: Sendable, Hashable {
  /// The number of taps per sample; even.
  let taps: Int
  /// The first tap of every sample; the last one exists too.
  let starts: [Int32]
  /// The weights in units of 1/16384, ``taps`` per sample; their sum is 16384.
  let weights: [Int16]

  /// With more taps, the rounding of weights could add up to a quarter of a level.
  private static let maxTaps = 32

  /// Converts an axis.
  ///
  /// - Returns: `nil` for too many taps, or fewer samples than an even number of taps.
  init?(source: Int, taps: Int, starts: [Int32], weights: [Float]) {
    let even = taps + taps % 2
    guard even <= Self.maxTaps, even <= source else { return nil }
    var fixedStarts: [Int32] = []
    var fixedWeights: [Int16] = []
    fixedStarts.reserveCapacity(starts.count)
    fixedWeights.reserveCapacity(starts.count * even)
    for (index, start) in starts.enumerated() {
      let fixedStart = min(Int(start), source - even)
      let before = Int(start) - fixedStart
      fixedStarts.append(Int32(fixedStart))
      // Rounds the running sum instead of single weights, which then add up exactly.
      var (sum, assigned) = (0.0, 0)
      for tap in 0 ..< even {
        let own = tap - before
        if (0 ..< taps).contains(own) { sum += Double(weights[index * taps + own]) }
        let whole = Int((sum * 16384).rounded())
        fixedWeights.append(Int16(whole - assigned))
        assigned = whole
      }
    }
    self.taps = even
    self.starts = fixedStarts
    self.weights = fixedWeights
  }
}
