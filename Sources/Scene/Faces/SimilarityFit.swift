package import SidelightKernels

/// The movement of points between two pictures, estimated by using least squares.
///
/// With the points `p` and `q` before and after, taken relative to their means, the movement that
/// minimizes the sum of squared distances has `a = sum(px qx + py qy) / sum(px^2 + py^2)` and
/// `b = sum(px qy - py qx) / sum(px^2 + py^2)` (Umeyama 1991, in two dimensions and without
/// reflections). A second pass leaves out the 30 % of the pairs that are farthest from the first
/// result, to ignore points on the background or on a hand.
package struct SimilarityFit: Sendable, Hashable {
  /// A point in two pictures.
  package struct Pair: Sendable, Hashable {
    package var before: PicturePoint
    package var after: PicturePoint

    package init(before: PicturePoint, after: PicturePoint) {
      self.before = before
      self.after = after
    }
  }

  /// The reason for which pairs don't give a movement of a face.
  package enum Refusal: Error, Sendable, Hashable {
    /// Fewer than ``SimilarityFit/minimumPairs`` pairs, or a coordinate that is not finite.
    case tooFewPairs
    /// All points are at the same position, which leaves scale and rotation undefined.
    case noExtent
    /// A change of size by more than ``SimilarityFit/maximumScale``.
    case scale
    /// A rotation by more than ``SimilarityFit/maximumRotation``.
    case rotation
  }

  /// The minimum number of pairs. Two points determine a movement; eight leave five in the second
  /// pass, enough to limit the effect of one wrong point.
  package static let minimumPairs = 8
  /// The share of pairs that the second pass leaves out.
  package static let omittedShare = 0.3
  /// The largest ratio of sizes between two frames, in either direction.
  package static let maximumScale = 1.18
  /// The largest rotation between two frames in radians: 12 degrees.
  package static let maximumRotation = 12 * Double.pi / 180

  /// The movement from the first picture to the second.
  package let transform: SimilarityTransform
  /// The root of the mean squared distance, in pixels, of the pairs of the second pass.
  package let residual: Double

  /// - Throws: A ``Refusal`` if the pairs do not give a movement that a face makes between frames.
  package init(_ pairs: [Pair]) throws(Refusal) {
    guard pairs.count >= Self.minimumPairs,
      pairs.allSatisfy({ $0.before.isFinite && $0.after.isFinite })
    else { throw .tooFewPairs }
    guard let first = Self.leastSquares(pairs) else { throw .noExtent }
    let kept = pairs.count - Int(Double(pairs.count) * Self.omittedShare)
    let nearest =
      pairs
      .map { (pair: $0, distance: (first($0.before) - $0.after).length) }
      .sorted { $0.distance < $1.distance }
      .prefix(kept)
      .map(\.pair)
    guard let second = Self.leastSquares(nearest) else { throw .noExtent }
    guard (1 / Self.maximumScale ... Self.maximumScale).contains(second.scale) else {
      throw .scale
    }
    guard abs(second.rotation) <= Self.maximumRotation else { throw .rotation }
    let squares = nearest.reduce(0) { sum, pair in
      let error = second(pair.before) - pair.after
      return sum + error.x * error.x + error.y * error.y
    }
    self.transform = second
    self.residual = (squares / Double(nearest.count)).squareRoot()
  }

  /// Returns the movement with the minimum sum of squared distances; `nil` if all points before, or
  /// all points after, coincide.
  private static func leastSquares(_ pairs: [Pair]) -> SimilarityTransform? {
    let share = 1 / Double(pairs.count)
    let zero = PicturePoint(x: 0, y: 0)
    let before = share * pairs.reduce(zero) { $0 + $1.before }
    let after = share * pairs.reduce(zero) { $0 + $1.after }
    var (dot, cross, square) = (0.0, 0.0, 0.0)
    for pair in pairs {
      let (p, q) = (pair.before - before, pair.after - after)
      dot += p.x * q.x + p.y * q.y
      cross += p.x * q.y - p.y * q.x
      square += p.x * p.x + p.y * p.y
    }
    guard square * share > 1e-6 else { return nil }
    let (a, b) = (dot / square, cross / square)
    let transform = SimilarityTransform(
      a: a, b: b, tx: after.x - a * before.x + b * before.y,
      ty: after.y - b * before.x - a * before.y)
    return transform.isValid && transform.scale > 1e-6 ? transform : nil
  }
}
