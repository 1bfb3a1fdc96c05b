/// The runs of pixels of a row that share their nearest seed. Owned by one band.
///
/// Of the squared distances (x - s)^2 + d^2 to the seeds, x^2 is common, so each is a line in x, and
/// the least of them a chain of lines whose slopes fall: found in one walk over the seeds by x.
struct CellRuns {
  /// Where runs begin, and the end.
  private(set) var edges: [Int32] = []
  /// The cell of each run: its place in the grid, counted row by row.
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
    /// From where on this is the nearest.
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

  /// - Parameters:
  ///   - grid: The cells of the plane.
  ///   - firstCell: The one that is to be counted as 0.
  init(_ grid: CellSpan, from firstCell: Int = 0) {
    self.lattice = grid.lattice
    self.width = grid.width
    self.columns = grid.columns
    self.firstRow = grid.rows.lowerBound
    self.firstCell = firstCell
  }

  /// Finds the runs of a row.
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
      // The first pixel whose centre is not before the start.
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

  /// Takes the seeds of a row of the grid and its neighbours, by x.
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
