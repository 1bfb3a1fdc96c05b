/// Means over the cells of scattered seeds: each pixel belongs to the nearest one.
struct CellOperation: NeighborhoodOperation {
  /// The seeds, in pixels of the frame.
  let lattice: CellLattice

  var words: String { "means over crystals \(self.lattice.spacing) pixels apart" }

  func makePass(_ setting: PassSetting) -> any Pass {
    CellPass(setting, self)
  }

  func reference(_ plane: ReferencePlane) -> ReferencePlane {
    struct Cell: Hashable {
      let column, row: Int
    }
    let lattice = self.lattice.scaled(by: plane.scale)
    let columns = lattice.columns(width: plane.width)
    var owners: [Cell] = []
    var sums: [Cell: (sums: [Double], count: Double)] = [:]
    for y in 0 ..< plane.height {
      for x in 0 ..< plane.width {
        let (px, py) = (Double(x) + 0.5, Double(y) + 0.5)
        let near = lattice.row(y: py)
        var (owner, least) = (Cell(column: 0, row: 0), Double.infinity)
        for row in near - 3 ... near + 3 {
          for column in columns {
            let seed = lattice.seed(column: column, row: row)
            let square = (seed.x - px) * (seed.x - px) + (seed.y - py) * (seed.y - py)
            if square < least { (owner, least) = (Cell(column: column, row: row), square) }
          }
        }
        owners.append(owner)
        var entry = sums[owner] ?? (Array(repeating: 0, count: plane.step), 0)
        for channel in 0 ..< plane.step { entry.sums[channel] += plane[x, y, channel] }
        entry.count += 1
        sums[owner] = entry
      }
    }
    return plane.map { x, y, channel in
      let entry = sums[owners[y * plane.width + x]] ?? ([0, 0, 0, 0], 1)
      return entry.sums[channel] / entry.count
    }
  }
}
