#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An affine map of places: x' = a x + c y + tx, y' = b x + d y + ty.
struct AffineMap: Sendable, Hashable {
  let a, b, c, d, tx, ty: Double

  /// Leaves every place where it is.
  static let identity = AffineMap(a: 1, b: 0, c: 0, d: 1, tx: 0, ty: 0)

  /// Where a place goes.
  func callAsFunction(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
    (self.a * x + self.c * y + self.tx, self.b * x + self.d * y + self.ty)
  }

  /// The map back; `nil` where places coincide, or nearly: a frame would shrink to less than one of
  /// its 4096th parts.
  var inverse: AffineMap? {
    let determinant = self.a * self.d - self.b * self.c
    let (a, b) = (self.d / determinant, -self.b / determinant)
    let (c, d) = (-self.c / determinant, self.a / determinant)
    guard determinant != 0, [a, b, c, d].allSatisfy({ abs($0) <= 4096 }) else { return nil }
    return AffineMap(
      a: a, b: b, c: c, d: d, tx: -(a * self.tx + c * self.ty), ty: -(b * self.tx + d * self.ty))
  }

  /// How many times further than before neighbours may come to lie, at most.
  var stretch: Double {
    max(hypot(self.a, self.b), hypot(self.c, self.d))
  }
}
