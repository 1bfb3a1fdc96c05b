import CKernels
package import SidelightKernels

/// A movement in the picture that keeps shapes: scale, rotation and translation.
///
/// `x' = a x - b y + tx`, `y' = b x + a y + ty`, with `a = s cos(r)` and `b = s sin(r)` for the
/// scale `s` and the rotation `r`. y points down: a positive rotation turns clockwise in the
/// picture.
package struct SimilarityTransform: Sendable, Hashable {
  package var a: Double
  package var b: Double
  package var tx: Double
  package var ty: Double

  package init(a: Double, b: Double, tx: Double, ty: Double) {
    self.a = a
    self.b = b
    self.tx = tx
    self.ty = ty
  }

  /// Creates the movement that turns and scales about one point and moves it to another.
  ///
  /// - Parameters:
  ///   - scale: The ratio of sizes after and before. Greater than 0.
  ///   - rotation: The angle in radians, clockwise.
  ///   - from: A point before.
  ///   - to: The same point after.
  package init(scale: Double, rotation: Double, from: PicturePoint, to: PicturePoint) {
    let (a, b) = (scale * cos(rotation), scale * sin(rotation))
    self.init(
      a: a, b: b, tx: to.x - a * from.x + b * from.y, ty: to.y - b * from.x - a * from.y)
  }

  /// The ratio of sizes after and before.
  package var scale: Double { hypot(self.a, self.b) }

  /// The angle in radians, -pi to pi, positive clockwise.
  package var rotation: Double { atan2(self.b, self.a) }

  /// Whether every coefficient is finite and the scale is greater than 0.
  package var isValid: Bool {
    self.a.isFinite && self.b.isFinite && self.tx.isFinite && self.ty.isFinite && self.scale > 0
  }

  /// Returns where a point moves.
  package func callAsFunction(_ point: PicturePoint) -> PicturePoint {
    PicturePoint(
      x: self.a * point.x - self.b * point.y + self.tx,
      y: self.b * point.x + self.a * point.y + self.ty)
  }
}

extension PicturePoint {
  package static func + (left: PicturePoint, right: PicturePoint) -> PicturePoint {
    PicturePoint(x: left.x + right.x, y: left.y + right.y)
  }

  package static func - (left: PicturePoint, right: PicturePoint) -> PicturePoint {
    PicturePoint(x: left.x - right.x, y: left.y - right.y)
  }

  package static func * (factor: Double, point: PicturePoint) -> PicturePoint {
    PicturePoint(x: factor * point.x, y: factor * point.y)
  }

  /// The distance from (0, 0).
  package var length: Double { hypot(self.x, self.y) }

  /// The point turned about (0, 0), clockwise for positive angles in radians.
  package func turned(by angle: Double) -> PicturePoint {
    let (cosine, sine) = (cos(angle), sin(angle))
    return PicturePoint(
      x: cosine * self.x - sine * self.y, y: sine * self.x + cosine * self.y)
  }

  var isFinite: Bool { self.x.isFinite && self.y.isFinite }
}

/// Returns the equal angle between -pi and pi.
func normalizedAngle(_ angle: Double) -> Double {
  angle.remainder(dividingBy: 2 * .pi)
}

extension AffineMap {
  package init(_ transform: SimilarityTransform) {
    self.init(
      a: transform.a, b: transform.b, c: -transform.b, d: transform.a, tx: transform.tx,
      ty: transform.ty)
  }
}

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
