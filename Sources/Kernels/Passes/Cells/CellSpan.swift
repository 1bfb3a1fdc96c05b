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
}
