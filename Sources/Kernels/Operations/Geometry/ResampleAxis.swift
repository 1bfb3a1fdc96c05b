/// How the samples of a row (or column) come from those of another: each is a weighted sum of
/// neighbours.
///
/// Where the step is at most 1, linear interpolation between the two nearest centres; where it is
/// greater, the mean over what a sample covers. Beyond the ends lie the samples at the ends.
package struct ResampleAxis: Sendable, Hashable {
  /// How many samples come out.
  package let count: Int
  /// How many neighbours each sums up.
  package let taps: Int
  /// The first neighbour of each.
  package let starts: [Int32]
  /// The weights, ``taps`` for each; they sum to 1.
  package let weights: [Float]
  /// The same in integers, unless there are too many neighbours for their weights to be exact enough,
  /// or too few samples.
  let fixed: FixedResampleAxis?

  /// - Parameters:
  ///   - source: How many samples there are.
  ///   - count: How many are wanted.
  ///   - origin: Where the first one begins, in source samples from the first one's edge.
  ///   - step: How many source samples each covers, greater than 0.
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
      // Every sum has as many neighbours, so the last ones begin earlier.
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

  /// The neighbours, and their weights, of a sample that begins at a place.
  static func neighbors(
    from low: Double, step: Double, source: Int
  ) -> (start: Int, weights: [Double]) {
    let limit = source - 1
    func clamped(_ place: Double) -> Int { Int(min(max(place, 0), Double(limit))) }
    if step > 1 {
      let (start, end) = (clamped(low.rounded(.down)), clamped((low + step).rounded(.up) - 1))
      // The samples at the ends reach on for ever; so a step may be as long as it likes.
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
    let share = center - first
    return (start, start == end ? [1] : [1 - share, share])
  }
}

/// A resampled axis in integers: an even number of neighbours each, weights of 16 bits.
struct FixedResampleAxis: Sendable, Hashable {
  /// How many neighbours each sums up; an even number.
  let taps: Int
  /// The first neighbour of each; the last one exists too.
  let starts: [Int32]
  /// The weights in 1/16384, ``taps`` for each; they sum to 16384.
  let weights: [Int16]

  /// With more, what rounding takes from the weights could add up to a quarter of a level.
  private static let mostTaps = 32

  /// - Returns: `nil` if there are too many neighbours, or too few samples to read an even number.
  init?(source: Int, taps: Int, starts: [Int32], weights: [Float]) {
    let even = taps + taps % 2
    guard even <= Self.mostTaps, even <= source else { return nil }
    var fixedStarts: [Int32] = []
    var fixedWeights: [Int16] = []
    fixedStarts.reserveCapacity(starts.count)
    fixedWeights.reserveCapacity(starts.count * even)
    for (index, start) in starts.enumerated() {
      let fixedStart = min(Int(start), source - even)
      let before = Int(start) - fixedStart
      fixedStarts.append(Int32(fixedStart))
      // What is left of the sum so far is rounded, and not each weight, so that nothing is lost.
      var (sum, given) = (0.0, 0)
      for tap in 0 ..< even {
        let own = tap - before
        if (0 ..< taps).contains(own) { sum += Double(weights[index * taps + own]) }
        let whole = Int((sum * 16384).rounded())
        fixedWeights.append(Int16(whole - given))
        given = whole
      }
    }
    self.taps = even
    self.starts = fixedStarts
    self.weights = fixedWeights
  }
}
