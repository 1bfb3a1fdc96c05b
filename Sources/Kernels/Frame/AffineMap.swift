import CKernels

/// A position in a picture, in its pixels: x to the right, y down, (0, 0) is the top left corner of
/// the top left pixel.
public struct PicturePoint: Sendable, Hashable {
  /// The distance from the left edge.
  public var x: Double
  /// The distance from the top edge.
  public var y: Double

  /// Creates a position.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

/// An affine map of positions: x' = a x + c y + tx, y' = b x + d y + ty.
package struct AffineMap: Sendable, Hashable {
  package let a, b, c, d, tx, ty: Double

  package static let identity = AffineMap(a: 1, b: 0, c: 0, d: 1, tx: 0, ty: 0)

  package init(a: Double, b: Double, c: Double, d: Double, tx: Double, ty: Double) {
    (self.a, self.b, self.c, self.d, self.tx, self.ty) = (a, b, c, d, tx, ty)
  }

  /// Maps a position.
  package func callAsFunction(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
    (self.a * x + self.c * y + self.tx, self.b * x + self.d * y + self.ty)
  }

  /// Maps a position.
  package func callAsFunction(_ point: PicturePoint) -> PicturePoint {
    let (x, y) = self(point.x, point.y)
    return PicturePoint(x: x, y: y)
  }

  /// Returns this map followed by another.
  package func followed(by next: AffineMap) -> AffineMap {
    let (x, y) = next(self.tx, self.ty)
    return AffineMap(
      a: next.a * self.a + next.c * self.b, b: next.b * self.a + next.d * self.b,
      c: next.a * self.c + next.c * self.d, d: next.b * self.c + next.d * self.d, tx: x, ty: y)
  }

  /// The inverse; `nil` if the map is singular or nearly so: if it shrinks a frame to less than
  /// 1/4096 of its size.
  package var inverse: AffineMap? {
    let determinant = self.a * self.d - self.b * self.c
    let (a, b) = (self.d / determinant, -self.b / determinant)
    let (c, d) = (-self.c / determinant, self.a / determinant)
    guard determinant != 0, [a, b, c, d].allSatisfy({ abs($0) <= 4096 }) else { return nil }
    return AffineMap(
      a: a, b: b, c: c, d: d, tx: -(a * self.tx + c * self.ty), ty: -(b * self.tx + d * self.ty))
  }

  /// The maximum factor by which the distance of neighbours grows.
  package var stretch: Double {
    max(hypot(self.a, self.b), hypot(self.c, self.d))
  }
}
