/// Brings a plane of chroma to the one sample for 2x2 pixels that 4:2:0 has: the mean of the samples
/// that fall into each, rounded to nearest; where the plane has fewer columns than that, each serves
/// as often as it must.
///
/// JPEG's chroma samples lie in the middle of the pixels that they stand for, and so do these: no
/// colour moves.
@safe
struct ChromaReduction {
  /// Pixels across that share a sample: 1, 2 or 4.
  let columns: Int
  /// Pixels down that share a sample: 1 or 2.
  let rows: Int

  /// - Parameters:
  ///   - source: The plane.
  ///   - stride: Bytes from one of its rows to the next.
  ///   - width: Columns of the result; the source has at least `2 * width / columns`, rounded up.
  ///   - height: Rows of the result; the source has `2 * height / rows`.
  func run(
    _ source: UnsafePointer<UInt8>, stride: Int, width: Int, height: Int,
    into target: UnsafeMutablePointer<UInt8>, stride targetStride: Int
  ) {
    for y in 0 ..< height {
      // Two rows that are one where the plane is as coarse as the result.
      let upper = unsafe source + (self.rows == 1 ? 2 * y : y) * stride
      let lower = unsafe self.rows == 1 ? upper + stride : upper
      let row = unsafe target + y * targetStride
      switch self.columns {
      case 1:
        for x in 0 ..< width {
          let sum =
            unsafe UInt16(upper[2 &* x]) &+ UInt16(upper[2 &* x &+ 1]) &+ UInt16(lower[2 &* x])
            &+ UInt16(lower[2 &* x &+ 1])
          unsafe row[x] = UInt8(truncatingIfNeeded: (sum &+ 2) >> 2)
        }
      case 2:
        for x in 0 ..< width {
          let sum = unsafe UInt16(upper[x]) &+ UInt16(lower[x])
          unsafe row[x] = UInt8(truncatingIfNeeded: (sum &+ 1) >> 1)
        }
      default:
        for x in 0 ..< width {
          let sum = unsafe UInt16(upper[x / 2]) &+ UInt16(lower[x / 2])
          unsafe row[x] = UInt8(truncatingIfNeeded: (sum &+ 1) >> 1)
        }
      }
    }
  }
}
