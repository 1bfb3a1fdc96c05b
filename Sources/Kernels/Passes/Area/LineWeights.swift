/// A line's weights in the whole numbers that rows in C take.
struct LineWeights: Sendable {
  /// The weights of each pair.
  let pairs: [(first: Int16, second: Int16)]
  /// How many pairs fit 16 bits together; `nil` if products need 32.
  let group: Int?
  /// One over the sum of all weights.
  let scale: Float

  /// Few pairs need fine weights; of many, each counts little, and bytes times 1/16 will do.
  private static let leastCoarse = 17
  private static let coarseUnit = 16.0

  /// - Parameters:
  ///   - kernel: The pixels and their weights.
  ///   - allowsCoarse: Whether samples are bytes, and weights mostly 1.
  init(_ kernel: LineKernel, allowsCoarse: Bool) {
    let isCoarse = allowsCoarse && kernel.pairs.count >= Self.leastCoarse
    let finest = min(4096, (65535 / Double(kernel.pairs.count)).rounded(.down))
    let unit = isCoarse ? Self.coarseUnit : finest
    self.group = isCoarse ? Int(256 / Self.coarseUnit) : nil
    self.pairs = kernel.pairs.map { pair in
      let (first, second) = pair.weights
      let both = (unit * (first + second)).rounded()
      let share = first + second > 0 ? second / (first + second) : 0
      let rounded = (both * share).rounded()
      return (Int16(both - rounded), Int16(rounded))
    }
    self.scale = 1 / Float(self.pairs.reduce(0) { $0 + Int($1.first) + Int($1.second) })
  }
}
