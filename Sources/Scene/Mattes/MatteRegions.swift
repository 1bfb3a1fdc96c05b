/// The connected regions of a matte.
package enum MatteRegions {
  /// Drops small regions of the foreground, and then fills small holes in it.
  ///
  /// Values of 0.5 and more are foreground. Foreground pixels are connected along edges and
  /// corners, background pixels along edges. A hole does not touch the picture's edge. The values
  /// of dropped regions become 0, and of filled holes 1.
  ///
  /// - Parameters:
  ///   - values: `width * height` values, row by row.
  ///   - minRegion: The minimum size of kept regions, as a share of the picture.
  ///   - minHole: The minimum size of kept holes, as a share of the picture.
  package static func clean(
    _ values: inout [Float], width: Int, height: Int, minRegion: Double, minHole: Double
  ) {
    let area = Double(width * height)
    for region in Self.regions(values, width, height, isForeground: true)
    where Double(region.area) < minRegion * area {
      for run in region.runs {
        for x in run.columns { values[run.row * width + x] = 0 }
      }
    }
    for hole in Self.regions(values, width, height, isForeground: false)
    where Double(hole.area) < minHole * area && !hole.touchesEdge {
      for run in hole.runs {
        for x in run.columns { values[run.row * width + x] = 1 }
      }
    }
  }

  private struct Run {
    let row: Int
    let columns: Range<Int>
  }

  private struct Region {
    var area = 0
    var touchesEdge = false
    var runs: [Run] = []
  }

  /// Returns the connected regions by using runs of pixels that are united where they touch.
  private static func regions(
    _ values: [Float], _ width: Int, _ height: Int, isForeground: Bool
  ) -> [Region] {
    var runs: [Run] = []
    var parents: [Int] = []
    func root(_ run: Int) -> Int {
      var run = run
      while parents[run] != run {
        parents[run] = parents[parents[run]]
        run = parents[run]
      }
      return run
    }
    let corner = isForeground ? 1 : 0
    var above = 0 ..< 0
    for row in 0 ..< height {
      let first = runs.count
      var x = 0
      while x < width {
        guard (values[row * width + x] >= 0.5) == isForeground else {
          x += 1
          continue
        }
        let start = x
        while x < width, (values[row * width + x] >= 0.5) == isForeground { x += 1 }
        parents.append(runs.count)
        runs.append(Run(row: row, columns: start ..< x))
      }
      var upper = above.lowerBound
      for run in first ..< runs.count {
        let columns = runs[run].columns
        while upper < above.upperBound,
          runs[upper].columns.upperBound + corner <= columns.lowerBound
        {
          upper += 1
        }
        var other = upper
        while other < above.upperBound,
          runs[other].columns.lowerBound < columns.upperBound + corner
        {
          let (one, two) = (root(run), root(other))
          parents[max(one, two)] = min(one, two)
          other += 1
        }
      }
      above = first ..< runs.count
    }
    var regions: [Int: Region] = [:]
    for (index, run) in runs.enumerated() {
      let place = root(index)
      regions[place, default: Region()].area += run.columns.count
      if run.row == 0 || run.row == height - 1 || run.columns.lowerBound == 0
        || run.columns.upperBound == width
      {
        regions[place, default: Region()].touchesEdge = true
      }
      regions[place, default: Region()].runs.append(run)
    }
    return Array(regions.values)
  }
}
