/// The weights of a symmetric filter along one axis of a plane.
///
/// Chroma of 4:2:0 formats is filtered as the pixels that share it: each pixel has its block's sample,
/// and a block's result is the mean of its pixels' results. With g the weights by distance in pixels,
/// that is a symmetric filter of the smaller plane, with g[2j] + (g[2j - 1] + g[2j + 1]) / 2 at
/// distance j. The last block along an odd side is one pixel wide, and beyond it lies its own sample;
/// so there it is g[2j - 1] + g[2j] at distance j, and g[0] in the middle.
struct PlaneWeights: Sendable {
  /// The weights of all samples but perhaps the last.
  let inner: SymmetricWeights
  /// The weights of the last sample along the axis, if they differ.
  let last: SymmetricWeights?

  /// The furthest neighbour that counts anywhere.
  var radius: Int { max(self.inner.radius, self.last?.radius ?? 0) }

  /// - Parameters:
  ///   - weights: The weights at distances 0 and up, in pixels of the frame.
  ///   - shape: The plane.
  ///   - length: The length of the frame along the axis, in pixels.
  init(_ weights: [Double], _ shape: PlaneShape, length: Int) {
    guard shape.scale < 1 else {
      self.inner = SymmetricWeights(weights)
      self.last = nil
      return
    }
    func weight(_ distance: Int) -> Double {
      abs(distance) < weights.count ? weights[abs(distance)] : 0
    }
    let distances = 0 ... weights.count / 2
    self.inner = SymmetricWeights(
      distances.map { weight(2 * $0) + (weight(2 * $0 - 1) + weight(2 * $0 + 1)) / 2 })
    let isOdd = !length.isMultiple(of: 2)
    self.last =
      isOdd
      ? SymmetricWeights(
        distances.map { $0 == 0 ? weight(0) : weight(2 * $0 - 1) + weight(2 * $0) }) : nil
  }
}
