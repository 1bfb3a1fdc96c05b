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
