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
