/// A line's taps in the whole numbers that rows in C take.
struct LineWeights: Sendable {
  /// One a tap: the weights of the two pixels.
  let pairs: [(first: Int16, second: Int16)]
  /// How many taps fit 16 bits together; `nil` if products need 32.
  let group: Int?
  /// One over the sum of all weights.
  let scale: Float

  /// Few taps need fine weights; of many, each counts little, and bytes times 1/16 will do.
  private static let leastCoarse = 17
  private static let coarseUnit = 16.0

  /// - Parameters:
  ///   - line: The line.
  ///   - isNarrow: Whether samples are bytes.
  init(_ line: LineTaps, isNarrow: Bool) {
    let isCoarse = isNarrow && line.taps.count >= Self.leastCoarse
    let finest = min(4096, (65535 / Double(line.taps.count)).rounded(.down))
    let unit = isCoarse ? Self.coarseUnit : finest
    self.group = isCoarse ? Int(256 / Self.coarseUnit) : nil
    self.pairs = line.taps.map { tap in
      let both = (unit * tap.weight).rounded()
      let second = (both * tap.share).rounded()
      return (Int16(both - second), Int16(second))
    }
    self.scale = 1 / Float(self.pairs.reduce(0) { $0 + Int($1.first) + Int($1.second) })
  }
}
