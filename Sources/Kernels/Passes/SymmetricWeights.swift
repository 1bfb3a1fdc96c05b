#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The weights of a symmetric filter as the rows in C take them.
struct SymmetricWeights: Sendable, Hashable {
  /// The weights at distances 0 ... ``radius``, in 1/32768; all of them, both sides, sum to 32768
  /// (one less where the centre alone would overflow).
  let values: [Int16]
  /// The furthest neighbour that counts.
  var radius: Int { self.values.count - 1 }

  /// - Parameter exact: The weights at distances 0 and up; normalized here. Not empty.
  init(_ exact: [Double]) {
    let sum = exact.reduce(-exact[0]) { $0 + 2 * $1 }
    var values = exact.map { Int(($0 / sum * 32768).rounded()) }
    // The centre takes the rounding error, so that a flat field stays flat.
    values[0] += 32768 - (2 * values.reduce(0, +) - values[0])
    self.values = values.map { Int16(clamping: $0) }
  }

  /// A sampled Gaussian.
  ///
  /// - Parameters:
  ///   - sigma: The standard deviation in samples, greater than 0.
  ///   - reach: How many standard deviations count. Beyond 3.3 lies a thousandth.
  init(sigma: Double, reach: Double = 3.3) {
    self.init(Self.gaussian(sigma: sigma, reach: reach))
  }

  /// A sampled Gaussian at distances 0 and up, not normalized.
  static func gaussian(sigma: Double, reach: Double = 3.3) -> [Double] {
    let radius = max(1, Int((sigma * reach).rounded(.up)))
    return (0 ... radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
  }

  /// How many standard deviations of a Gaussian count, where its error is magnified: what is cut off
  /// is invisible still. Beyond 3.3 of them lies a thousandth; beyond 4.4, a hundred thousandth.
  static func reach(gain: Double) -> Double {
    gain <= 1 ? 3.3 : gain <= 8 ? 3.9 : 4.4
  }
}
