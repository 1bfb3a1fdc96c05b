/// The part of a lattice whose cells may meet a plane.
struct CellSpan: Sendable {
  let lattice: CellLattice
  /// The plane's width in pixels.
  let width: Int
  /// Columns of the grid.
  let columns: ClosedRange<Int>
  /// Rows of the grid.
  let rows: ClosedRange<Int>

  init(_ lattice: CellLattice, _ shape: PlaneShape) {
    self.lattice = lattice
    self.width = shape.width
    self.columns = lattice.columns(width: shape.width)
    self.rows = lattice.row(y: 0) - 1 ... lattice.row(y: Double(shape.height)) + 1
  }

  /// How many cells there are.
  var count: Int { self.columns.count * self.rows.count }

  /// The cells whose seeds may be nearest to pixels of a band, counted row by row.
  func cells(meeting band: Range<Int>) -> Range<Int> {
    let first = self.lattice.row(y: Double(band.lowerBound)) - 1 - self.rows.lowerBound
    let last = self.lattice.row(y: Double(band.upperBound)) + 1 - self.rows.lowerBound
    return first * self.columns.count ..< (last + 1) * self.columns.count
  }
}
