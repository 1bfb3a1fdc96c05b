#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A sampled, normalised Gaussian as the rows in C take it.
struct GaussianWeights: Sendable, Hashable {
  /// The weights at distances 0 ... ``radius``, in 1/32768; all of them, both sides, sum to 32768
  /// (one less where the centre alone would overflow).
  let values: [Int16]
  /// The furthest neighbour that counts.
  var radius: Int { self.values.count - 1 }

  /// - Parameter sigma: The standard deviation in samples, greater than 0. Cut off at 3.3 of them,
  ///   beyond which lies a thousandth.
  init(sigma: Double) {
    let radius = max(1, Int((sigma * 3.3).rounded(.up)))
    let exact = (0 ... radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
    let sum = exact.reduce(-exact[0]) { $0 + 2 * $1 }
    var values = exact.map { Int(($0 / sum * 32768).rounded()) }
    // What rounding lost goes to the centre, so that a flat field stays flat.
    values[0] += 32768 - (2 * values.reduce(0, +) - values[0])
    self.values = values.map { Int16(clamping: $0) }
  }
}
