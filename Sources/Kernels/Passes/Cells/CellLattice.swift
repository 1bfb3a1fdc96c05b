/// Points scattered over the plane, one round each place of a grid: always the same ones.
struct CellLattice: Sendable, Hashable {
  /// Where the seed of column 0 and row 0 would be, were it not moved.
  let x: Double
  let y: Double
  /// From place to place, in pixels of the plane.
  let spacing: Double

  /// How far a seed may lie from its place, in spacings. With this, the seed that is nearest to a
  /// point is never more than one row of the grid away from it: one of the point's own row is within
  /// sqrt(2) (.5 + .32) = 1.16, and those of the next row but one are beyond 1.5 - .32 = 1.18.
  static let jitter = 0.32

  /// The same points on a plane of another size.
  func scaled(by scale: Double) -> CellLattice {
    CellLattice(x: self.x * scale, y: self.y * scale, spacing: self.spacing * scale)
  }

  /// The row of the grid in which a place lies.
  func row(y: Double) -> Int { Int(((y - self.y) / self.spacing + 0.5).rounded(.down)) }

  /// The columns of the grid whose seeds may be nearest to pixels of a row.
  func columns(width: Int) -> ClosedRange<Int> {
    let first = Int((-self.x / self.spacing).rounded(.down)) - 3
    let last = Int(((Double(width) - self.x) / self.spacing).rounded(.up)) + 2
    return first ... max(first, last)
  }

  /// A seed, in pixels of the plane.
  func seed(column: Int, row: Int) -> (x: Double, y: Double) {
    let hash = NoiseTable.mix(
      NoiseTable.mix(UInt64(bitPattern: Int64(column))) ^ UInt64(bitPattern: Int64(row)))
    let right = Double(hash & 0xffff_ffff) / 0x1p32 - 0.5
    let down = Double(hash >> 32) / 0x1p32 - 0.5
    let shift = row & 1 == 0 ? 0 : 0.5
    return (
      self.x + (Double(column) + shift + 2 * Self.jitter * right) * self.spacing,
      self.y + (Double(row) + 2 * Self.jitter * down) * self.spacing
    )
  }
}
