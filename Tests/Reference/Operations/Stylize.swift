package import SidelightKernels

extension MedianOperation: ReferenceOperation {
  package func reference(_ plane: ReferencePlane) -> ReferencePlane {
    plane.map { x, y, channel in
      (0 ..< 9).map { plane[x + $0 % 3 - 1, y + $0 / 3 - 1, channel] }.sorted()[4]
    }
  }
}

extension ConvolutionOperation: ReferenceOperation {
  package var sumsPixels: Bool { true }

  package func reference(
    _ planes: [ReferencePlane], of geometry: FrameGeometry
  ) -> [ReferencePlane] {
    planes.map { plane in
      let bias = self.bias(scale: plane.scale, of: geometry)
      guard plane.scale == 1 else {
        return self.sums(plane.spread(over: geometry.size), bias).shared()
      }
      return self.sums(plane, bias).boundedByAlpha(of: geometry)
    }
  }

  private func sums(_ plane: ReferencePlane, _ bias: Double) -> ReferencePlane {
    let reach = self.side / 2
    return plane.map { x, y, channel in
      guard channel < 3 || !self.keepsAlpha else { return plane[x, y, channel] }
      return self.weights.indices.reduce(bias) { sum, index in
        let (row, column) = (index / self.side - reach, index % self.side - reach)
        return sum + self.weights[index] * plane[x + column, y + row, channel]
      }
    }
  }
}

extension PixellateOperation: ReferenceOperation {
  package func reference(_ plane: ReferencePlane) -> ReferencePlane {
    struct Square: Hashable {
      let x, y, channel: Int
    }
    func square(_ x: Int, _ y: Int, _ channel: Int) -> Square {
      let side = self.scale * plane.scale
      return Square(
        x: Int(((Double(x) + 0.5 - self.x * plane.scale) / side).rounded(.down)),
        y: Int(((Double(y) + 0.5 - self.y * plane.scale) / side).rounded(.down)),
        channel: channel)
    }
    var sums: [Square: (sum: Double, count: Double)] = [:]
    _ = plane.map { x, y, channel in
      let sample = plane[x, y, channel]
      let (sum, count) = sums[square(x, y, channel)] ?? (0, 0)
      sums[square(x, y, channel)] = (sum + sample, count + 1)
      return sample
    }
    return plane.map { x, y, channel in
      let (sum, count) = sums[square(x, y, channel)] ?? (0, 1)
      return sum / count
    }
  }
}

extension CellOperation: ReferenceOperation {
  package func reference(_ plane: ReferencePlane) -> ReferencePlane {
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
