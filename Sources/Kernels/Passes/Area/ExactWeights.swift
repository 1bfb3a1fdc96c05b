#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A sampled Gaussian whose cut-off suits how much its error is magnified.
struct ExactWeights: Sendable, Hashable {
  /// The weights at distances 0 ... ``radius``, in 1/32768; all of them, both sides, sum to 32768
  /// (one less where the centre alone would overflow).
  let values: [Int16]
  /// The furthest neighbour that counts.
  var radius: Int { self.values.count - 1 }

  /// - Parameters:
  ///   - sigma: The standard deviation in samples, greater than 0.
  ///   - gain: What the result is multiplied by later: what is cut off is invisible still.
  init(sigma: Double, gain: Double) {
    // Beyond 3.3 standard deviations lies a thousandth; beyond 4.4, a hundred thousandth.
    let reach = gain <= 1 ? 3.3 : gain <= 8 ? 3.9 : 4.4
    let radius = max(1, Int((sigma * reach).rounded(.up)))
    let exact = (0 ... radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
    let sum = exact.reduce(-exact[0]) { $0 + 2 * $1 }
    var values = exact.map { Int(($0 / sum * 32768).rounded()) }
    // What rounding lost goes to the centre, so that a flat field stays flat.
    values[0] += 32768 - (2 * values.reduce(0, +) - values[0])
    self.values = values.map { Int16(clamping: $0) }
  }
}
