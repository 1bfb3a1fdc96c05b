/// Seeds scattered over a plane, one per position of a grid, moved by a hash of the position.
package struct CellLattice: Sendable, Hashable {
  /// The position of column 0 and row 0 of the grid.
  package let x: Double
  package let y: Double
  /// The distance between positions, in pixels of the plane.
  package let spacing: Double

  /// The maximum distance of a seed from its position along either axis, in spacings. With this
  /// value, the nearest seed of a point is at most one row of the grid away: a seed of the point's
  /// row is within sqrt(2) (.5 + .32) = 1.16 spacings, and seeds two rows away are beyond 1.5 - .32
  /// = 1.18.
  package static let jitter = 0.32

  /// Returns the same seeds on a plane of another size.
  package func scaled(by scale: Double) -> CellLattice {
    CellLattice(x: self.x * scale, y: self.y * scale, spacing: self.spacing * scale)
  }

  /// The row of the grid at a position.
  package func row(y: Double) -> Int { Int(((y - self.y) / self.spacing + 0.5).rounded(.down)) }

  /// The columns of the grid with seeds that may be nearest to pixels of a row.
  package func columns(width: Int) -> ClosedRange<Int> {
    let first = Int((-self.x / self.spacing).rounded(.down)) - 3
    let last = Int(((Double(width) - self.x) / self.spacing).rounded(.up)) + 2
    return first ... max(first, last)
  }

  /// The position of a seed, in pixels of the plane.
  package func seed(column: Int, row: Int) -> (x: Double, y: Double) {
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

/// The part of a lattice with cells that may contain pixels of a plane.
struct CellSpan: Sendable {
  let lattice: CellLattice
  /// The plane's width in pixels.
  let width: Int
  /// The columns of the grid.
  let columns: ClosedRange<Int>
  /// The rows of the grid.
  let rows: ClosedRange<Int>

  init(_ lattice: CellLattice, _ shape: PlaneShape) {
    self.lattice = lattice
    self.width = shape.width
    self.columns = lattice.columns(width: shape.width)
    self.rows = lattice.row(y: 0) - 1 ... lattice.row(y: Double(shape.height)) + 1
  }

  var count: Int { self.columns.count * self.rows.count }

  /// The cells with seeds that may be nearest to pixels of a band, counted row by row.
  func cells(intersecting band: Range<Int>) -> Range<Int> {
    let first = self.lattice.row(y: Double(band.lowerBound)) - 1 - self.rows.lowerBound
    let last = self.lattice.row(y: Double(band.upperBound)) + 1 - self.rows.lowerBound
    return first * self.columns.count ..< (last + 1) * self.columns.count
  }
}

/// The runs of pixels of a row with the same nearest seed. Owned by one band.
///
/// In the squared distances (x - s)^2 + d^2 to the seeds the term x^2 is common: every distance is
/// a line in x, and their minimum is a chain of lines with descending slopes. One walk over the
/// seeds in order of x finds it.
struct CellRuns {
  /// The first pixels of runs, and the end of the row.
  private(set) var edges: [Int32] = []
  /// The cell of every run: its position in the grid, counted row by row.
  private(set) var cells: [Int32] = []

  private struct Seed {
    let x: Double
    let y: Double
    let cell: Int32
  }

  private struct Line {
    let x: Double
    let height: Double
    let cell: Int32
    /// The position from which this seed is the nearest.
    let start: Double
  }

  private let lattice: CellLattice
  private let width: Int
  private let columns: ClosedRange<Int>
  private let firstRow: Int
  private let firstCell: Int
  private var gridRow: Int?
  private var seeds: [Seed] = []
  private var chain: [Line] = []

  /// Creates the runs of a plane's rows.
  ///
  /// - Parameters:
  ///   - grid: The cells of the plane.
  ///   - firstCell: The cell that gets the number 0.
  init(_ grid: CellSpan, from firstCell: Int = 0) {
    self.lattice = grid.lattice
    self.width = grid.width
    self.columns = grid.columns
    self.firstRow = grid.rows.lowerBound
    self.firstCell = firstCell
  }

  /// Computes the runs of a row.
  mutating func find(y: Int) {
    let y = Double(y) + 0.5
    self.gather(self.lattice.row(y: y))
    self.chain.removeAll(keepingCapacity: true)
    for seed in self.seeds {
      let height = seed.x * seed.x + (seed.y - y) * (seed.y - y)
      var start = -Double.infinity
      while let last = self.chain.last {
        start =
          seed.x == last.x
          ? (height < last.height ? -.infinity : .infinity)
          : (height - last.height) / (2 * (seed.x - last.x))
        guard start <= last.start else { break }
        self.chain.removeLast()
        start = -.infinity
      }
      if start < .infinity {
        self.chain.append(Line(x: seed.x, height: height, cell: seed.cell, start: start))
      }
    }
    self.edges.removeAll(keepingCapacity: true)
    self.cells.removeAll(keepingCapacity: true)
    for line in self.chain {
      // The first pixel with its centre at or after the start.
      let edge = Int32(min(max((line.start - 0.5).rounded(.up), 0), Double(self.width)))
      guard edge < self.width else { break }
      if self.edges.last == edge {
        self.cells[self.cells.count - 1] = line.cell
      } else {
        self.edges.append(edge)
        self.cells.append(line.cell)
      }
    }
    self.edges.append(Int32(self.width))
  }

  /// Collects the seeds of a row of the grid and its neighbours, in order of x.
  private mutating func gather(_ row: Int) {
    guard self.gridRow != row else { return }
    self.gridRow = row
    self.seeds.removeAll(keepingCapacity: true)
    for row in row - 1 ... row + 1 {
      for column in self.columns {
        let (x, y) = self.lattice.seed(column: column, row: row)
        let index = (row - self.firstRow) * self.columns.count + column - self.columns.lowerBound
        self.seeds.append(Seed(x: x, y: y, cell: Int32(index - self.firstCell)))
      }
    }
    self.seeds.sort { $0.x < $1.x }
  }
}
