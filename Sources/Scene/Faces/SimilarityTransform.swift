#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

package import SidelightKernels

/// A movement in the picture that keeps shapes: scale, rotation and translation.
///
/// `x' = a x - b y + tx`, `y' = b x + a y + ty`, with `a = s cos(r)` and `b = s sin(r)` for the
/// scale `s` and the rotation `r`. y points down: a positive rotation turns clockwise in the
/// picture.
package struct SimilarityTransform: Sendable, Hashable {
  package static let identity = SimilarityTransform(a: 1, b: 0, tx: 0, ty: 0)

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

  /// Returns this movement followed by another.
  package func followed(by next: SimilarityTransform) -> SimilarityTransform {
    let moved = next(PicturePoint(x: self.tx, y: self.ty))
    return SimilarityTransform(
      a: next.a * self.a - next.b * self.b, b: next.b * self.a + next.a * self.b,
      tx: moved.x, ty: moved.y)
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

  /// The direction from (0, 0) in radians, clockwise from the x axis.
  package var angle: Double { atan2(self.y, self.x) }

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
