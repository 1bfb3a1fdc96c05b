import CKernels
import SidelightKernels
import Synchronization

/// The mosaic of a covered region on one plane of a frame: the cells of samples, and the samples of
/// rows that the region covers.
///
/// Positions are counted in cells from the region's centre, along its axes: the sample (x, y) is at
/// `origin + (x + 1/2) right + (y + 1/2) down`, and in the cell `floor` of that.
struct RegionGrid: Sendable {
  /// A position, or a step, in cells.
  typealias Cells = SIMD2<Double>

  /// The maximum number of cells. A finer grid gets larger cells.
  private static let cellLimit = 1 << 18
  /// The maximum distance of a region's centre in pixels of the picture, and the maximum half of an
  /// extent that is not reduced to it: more than any frame, and exact in the formulas.
  private static let centerLimit = 1e6
  private static let radiusLimit = 1e7

  let shape: PlaneShape
  /// The cells that have a part of the region and of the plane, across and down.
  let columns: Range<Int>
  let rows: Range<Int>
  /// The rows of the plane that reach these cells.
  let lines: Range<Int>
  private let region: CoveredRegion.Shape
  private let origin: Cells
  private let right: Cells
  private let down: Cells
  /// Half the extents of the region.
  private let radius: Cells

  /// Whether a region can be placed.
  static func accepts(_ region: CoveredRegion) -> Bool {
    region.isValid && max(abs(region.center.x), abs(region.center.y)) <= Self.centerLimit
  }

  /// Places a region; `nil` if it is outside the plane.
  ///
  /// - Parameters:
  ///   - region: A region that is accepted, in the pixels of the reduced picture.
  ///   - map: The map from the pixels of the frame to the pixels of the picture.
  ///   - shape: The plane.
  init?(_ region: CoveredRegion, _ map: AffineMap, on shape: PlaneShape) {
    func cells(_ x: Double, _ y: Double, _ side: Double) -> Cells {
      let place = (map(PicturePoint(x: x / shape.scale, y: y / shape.scale)) - region.center)
        .turned(by: -region.roll)
      return Cells(place.x, place.y) / side
    }
    // A cell is at least as large as a pixel of the picture in which the face was found.
    var side = max(region.cell, 1)
    while true {
      let origin = cells(0, 0, side)
      let corners = [
        origin, cells(Double(shape.width), 0, side), cells(0, Double(shape.height), side),
        cells(Double(shape.width), Double(shape.height), side),
      ]
      let radius =
        Cells(min(region.radiusX, Self.radiusLimit), min(region.radiusY, Self.radiusLimit)) / side
      guard
        let columns = Self.cells(radius.x, corners.map(\.x)),
        let rows = Self.cells(radius.y, corners.map(\.y))
      else { return nil }
      if columns.count * rows.count > Self.cellLimit {
        side *= 2
        continue
      }
      self.origin = origin
      self.right = cells(1, 0, side) - origin
      self.down = cells(0, 1, side) - origin
      self.radius = radius
      self.columns = columns
      self.rows = rows
      break
    }
    self.shape = shape
    self.region = region.shape
    self.lines = Self.lines(self.columns, self.rows, self.origin, self.right, self.down, shape)
  }

  /// The cells along one axis that have a part of the region and of the plane; `nil` if they don't
  /// overlap.
  private static func cells(_ radius: Double, _ corners: [Double]) -> Range<Int>? {
    guard let least = corners.min(), let greatest = corners.max() else { return nil }
    let (low, high) = (max(-radius, least), min(radius, greatest))
    guard low <= high else { return nil }
    return Int(low.rounded(.down)) ..< Int(high.rounded(.down)) + 1
  }

  /// The rows of the plane that reach the cells.
  private static func lines(
    _ columns: Range<Int>, _ rows: Range<Int>, _ origin: Cells, _ right: Cells, _ down: Cells,
    _ shape: PlaneShape
  ) -> Range<Int> {
    let determinant = right.x * down.y - right.y * down.x
    guard determinant != 0 else { return 0 ..< shape.height }
    let places = [columns.lowerBound, columns.upperBound].flatMap { x in
      [rows.lowerBound, rows.upperBound].map { y in
        let offset = Cells(Double(x), Double(y)) - origin
        return (right.x * offset.y - right.y * offset.x) / determinant
      }
    }
    let low = min(max((places.min() ?? 0).rounded(.down) - 1, 0), Double(shape.height))
    let high = min(max((places.max() ?? 0).rounded(.up) + 1, low), Double(shape.height))
    return Int(low) ..< Int(high)
  }

  /// The position of the first sample of a row. The sample x is at `start + x step`.
  @inline(__always)
  func start(_ y: Int) -> Cells {
    self.origin + 0.5 * self.right + (Double(y) + 0.5) * self.down
  }

  /// The step from a sample to the next one of its row.
  var step: Cells { self.right }

  /// The samples of a row with centres that the region covers.
  func span(_ y: Int) -> Range<Int> {
    let (start, step) = (self.start(y) / self.radius, self.right / self.radius)
    switch self.region {
    case .rectangle:
      let across = self.samples(start.x, step.x, from: -1, to: 1)
      return across.clamped(to: self.samples(start.y, step.y, from: -1, to: 1))
    case .ellipse:
      // |start + x step| = 1
      let (a, b) = ((step * step).sum(), (start * step).sum())
      let c = (start * start).sum() - 1
      let root = b * b - a * c
      guard a > 0, root >= 0 else { return 0 ..< 0 }
      return self.range((-b - root.squareRoot()) / a, (-b + root.squareRoot()) / a)
    }
  }

  /// The samples of a row that may be in the cells of the grid.
  func window(_ y: Int) -> Range<Int> {
    let start = self.start(y)
    let across = self.samples(
      start.x, self.right.x, from: Double(self.columns.lowerBound),
      to: Double(self.columns.upperBound))
    let along = self.samples(
      start.y, self.right.y, from: Double(self.rows.lowerBound),
      to: Double(self.rows.upperBound))
    let both = across.clamped(to: along)
    // A sample more at both ends, since the ends are rounded.
    return both.isEmpty
      ? both : max(both.lowerBound - 1, 0) ..< min(both.upperBound + 1, self.shape.width)
  }

  /// The samples x with `low <= start + x step <= high`.
  private func samples(
    _ start: Double, _ step: Double, from low: Double, to high: Double
  ) -> Range<Int> {
    guard step != 0 else { return low <= start && start <= high ? 0 ..< self.shape.width : 0 ..< 0 }
    let (one, other) = ((low - start) / step, (high - start) / step)
    return self.range(min(one, other), max(one, other))
  }

  /// The samples of a row between two positions.
  private func range(_ low: Double, _ high: Double) -> Range<Int> {
    let end = Double(self.shape.width)
    let first = min(max(low.rounded(.up), 0), end)
    let last = min(max(high.rounded(.down) + 1, first), end)
    return Int(first) ..< Int(last)
  }
}

extension RegionGrid {
  /// Calls `body` for runs of samples of a row that are in one cell.
  ///
  /// - Parameters:
  ///   - samples: The samples of the row.
  ///   - y: The row.
  ///   - body: Receives a cell, counted from (0, 0), and its samples. The cell may be outside the
  ///     grid.
  @inline(__always)
  func runs(
    _ samples: Range<Int>, _ y: Int, _ body: (_ column: Int, _ row: Int, Range<Int>) -> Void
  ) {
    let (start, step) = (self.start(y), self.step)
    var x = samples.lowerBound
    while x < samples.upperBound {
      let place = start + Double(x) * step
      let cell = place.rounded(.down)
      let end = min(
        Self.end(start.x, step.x, cell.x, x, samples.upperBound),
        Self.end(start.y, step.y, cell.y, x, samples.upperBound))
      body(Int(cell.x) - self.columns.lowerBound, Int(cell.y) - self.rows.lowerBound, x ..< end)
      x = end
    }
  }

  /// The first sample after x, up to the limit, that is not in the same cell along one axis.
  @inline(__always)
  private static func end(
    _ start: Double, _ step: Double, _ cell: Double, _ x: Int, _ limit: Int
  ) -> Int {
    guard step != 0 else { return limit }
    let crossing = ((step > 0 ? cell + 1 : cell) - start) / step
    var end = Int(min(max(crossing, Double(x + 1)), Double(limit)))
    // The estimate is rounded; the definition is exact.
    while end > x + 1, (start + Double(end - 1) * step).rounded(.down) != cell { end -= 1 }
    while end < limit, (start + Double(end) * step).rounded(.down) == cell { end += 1 }
    return end
  }
}

/// The mean colours of the cells of a grid on one plane of a frame.
///
/// A colour has up to three channels, in levels, of the frame on black. The fourth number is 1, and
/// 0 for a cell without samples.
struct CellColors: Sendable {
  let columns: Int
  let rows: Int
  private(set) var colors: [SIMD4<Float>]

  /// Divides sums of samples by their weights.
  ///
  /// - Parameters:
  ///   - sums: Per cell, row by row, the sums of up to three channels, and the number of samples;
  ///     for straight alpha 255 times the sums of colour on black, and of the number.
  ///   - columns: The number of cells of a row.
  init(_ sums: [SIMD4<Int>], columns: Int) {
    self.columns = columns
    self.rows = columns > 0 ? sums.count / columns : 0
    self.colors = sums.map { sum in
      guard sum.w > 0 else { return .zero }
      let colors = SIMD4<Double>(sum) / Double(sum.w)
      return SIMD4<Float>(SIMD4(colors.x, colors.y, colors.z, 1))
    }
  }

  /// The colours after a blur across cells with the weights 1, 2, 1 along both axes. Cells without
  /// samples count as absent, and get the colours of their neighbours.
  func blurred() -> CellColors {
    var result = self
    for row in 0 ..< self.rows {
      for column in 0 ..< self.columns {
        var sum = SIMD4<Float>.zero
        for y in max(row - 1, 0) ... min(row + 1, self.rows - 1) {
          for x in max(column - 1, 0) ... min(column + 1, self.columns - 1) {
            sum +=
              self.colors[y * self.columns + x]
              * ((x == column ? 2 : 1) * (y == row ? 2 : 1))
          }
        }
        result.colors[row * self.columns + column] = sum.w > 0 ? sum / sum.w : .zero
      }
    }
    return result
  }
}

/// The sums of the cells of a grid, which bands add theirs to.
final class GridSums: Sendable {
  private let sums: Mutex<[SIMD4<Int>]>

  /// Creates sums of 0.
  init(count: Int) {
    self.sums = Mutex([SIMD4<Int>](repeating: .zero, count: count))
  }

  var values: [SIMD4<Int>] { self.sums.withLock { $0 } }

  /// Adds sums to the cells' sums, beginning with the given cell.
  func add(_ others: [SIMD4<Int>], from first: Int = 0) {
    self.sums.withLock { sums in
      for (index, other) in others.enumerated() { sums[first + index] &+= other }
    }
  }
}
