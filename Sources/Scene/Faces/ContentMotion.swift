package import SidelightKernels

/// The positions in an earlier picture that show the same content as a picture's cells.
package struct ContentMotion: Sendable, Hashable {
  /// The side of a cell in pixels. Cells at the right and the lower edge may be cut.
  package static let cellSide = 4

  /// The number of the earlier frame; `nil` if it is not known.
  package var frame: UInt64?
  /// The distance from every cell to its position in the earlier picture, in pixels. Rows of cells
  /// run from top to bottom.
  package var offsets: [SIMD2<Float>]
  /// The mean level of the earlier picture at all of these positions.
  package var levels: [Float]

  package init(from frame: UInt64? = nil, offsets: [SIMD2<Float>], levels: [Float]) {
    self.frame = frame
    self.offsets = offsets
    self.levels = levels
  }

  /// Whether all cells have finite values.
  func isValid(for cells: PictureCells) -> Bool {
    self.offsets.count == cells.count && self.levels.count == cells.count
      && self.levels.allSatisfy(\.isFinite)
      && self.offsets.allSatisfy { $0.x.isFinite && $0.y.isFinite }
  }
}

/// The cells of a picture: squares with a side of ``ContentMotion/cellSide`` pixels.
package struct PictureCells: Sendable, Hashable {
  /// The number of cells in a row.
  package let columns: Int
  /// The number of rows.
  package let rows: Int

  package init(width: Int, height: Int) {
    let side = ContentMotion.cellSide
    self.init(columns: (width + side - 1) / side, rows: (height + side - 1) / side)
  }

  private init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }

  /// The number of cells.
  package var count: Int { self.columns * self.rows }

  /// The centre of a cell, in pixels.
  package func center(_ index: Int) -> PicturePoint {
    PicturePoint(
      x: (Double(index % self.columns) + 0.5) * Double(ContentMotion.cellSide),
      y: (Double(index / self.columns) + 0.5) * Double(ContentMotion.cellSide))
  }

  /// The cell that contains a point; `nil` beyond the cells.
  func cell(x: Float, y: Float) -> Int? {
    let side = Float(ContentMotion.cellSide)
    let (column, row) = ((x / side).rounded(.down), (y / side).rounded(.down))
    guard column >= 0, row >= 0, column < Float(self.columns), row < Float(self.rows) else {
      return nil
    }
    return Int(row) * self.columns + Int(column)
  }

  /// Returns the mean level of every cell of a picture.
  package func means(of picture: LumaPicture) -> [Float] {
    let side = ContentMotion.cellSide
    var sums = [Int](repeating: 0, count: self.count)
    unsafe picture.samples.withUnsafeBufferPointer { samples in
      for y in 0 ..< picture.height {
        let (line, first) = (y * picture.width, y / side * self.columns)
        for x in 0 ..< picture.width { unsafe sums[first + x / side] += Int(samples[line + x]) }
      }
    }
    return sums.indices.map { index in
      let (column, row) = (index % self.columns, index / self.columns)
      let width = min(side, picture.width - column * side)
      let height = min(side, picture.height - row * side)
      return Float(sums[index]) / Float(width * height)
    }
  }

  /// Returns, per cell, whether at least a number of cells are set in the square around it.
  ///
  /// - Parameter reach: The distance from the cell to the sides of the square, in cells.
  func having(_ least: Int, of cells: [Bool], within reach: Int) -> [Bool] {
    // Sums along rows, then along columns.
    var sums = [Int](repeating: 0, count: self.count)
    for row in 0 ..< self.rows {
      let first = row * self.columns
      for column in 0 ..< self.columns where cells[first + column] {
        for near in max(column - reach, 0) ... min(column + reach, self.columns - 1) {
          sums[first + near] += 1
        }
      }
    }
    var result = [Bool](repeating: false, count: self.count)
    for row in 0 ..< self.rows {
      let lines = max(row - reach, 0) ... min(row + reach, self.rows - 1)
      for column in 0 ..< self.columns {
        var sum = 0
        for line in lines { sum += sums[line * self.columns + column] }
        result[row * self.columns + column] = sum >= least
      }
    }
    return result
  }

  /// Returns the cells within a distance of set cells.
  func grown(_ cells: [Bool], by reach: Int) -> [Bool] {
    reach == 0 ? cells : self.having(1, of: cells, within: reach)
  }

  /// Returns the cells with all neighbours within a distance set.
  func shrunk(_ cells: [Bool], by reach: Int) -> [Bool] {
    self.grown(cells.map { !$0 }, by: reach).map { !$0 }
  }

  /// Returns a larger grid, in which the cells at the edges are repeated.
  ///
  /// - Parameter margin: The number of cells on every side.
  func extended(_ cells: [Bool], by margin: Int) -> (grid: PictureCells, cells: [Bool]) {
    let grid = PictureCells(columns: self.columns + 2 * margin, rows: self.rows + 2 * margin)
    let extended = (0 ..< grid.count).map { index in
      let column = min(max(index % grid.columns - margin, 0), self.columns - 1)
      let row = min(max(index / grid.columns - margin, 0), self.rows - 1)
      return cells[row * self.columns + column]
    }
    return (grid, extended)
  }
}

/// Optical flow: chooses points of a face and follows them from one picture to another.
package protocol PointTracker: Sendable {
  /// Returns points of a face that are easy to follow; an empty array if it has too little texture.
  ///
  /// - Parameters:
  ///   - box: The position of the face, which may reach beyond the picture.
  ///   - picture: The picture that shows it.
  /// - Throws: An error if the choice failed.
  func points(of box: FaceBox, in picture: LumaPicture) throws -> [PicturePoint]

  /// Returns where points of a picture are in another one of the same size, and `nil` for lost
  /// points.
  ///
  /// - Throws: An error if no point can be followed.
  mutating func follow(
    _ points: [PicturePoint], from first: LumaPicture, to second: LumaPicture
  ) throws -> [PicturePoint?]

  /// Returns the earlier positions of the content of a picture's cells, in an earlier picture of
  /// the same size; `nil`, the default, if the tracker cannot compute them.
  ///
  /// - Throws: An error if the flow failed.
  func motion(from earlier: LumaPicture, to picture: LumaPicture) throws -> ContentMotion?
}

extension PointTracker {
  package func motion(from earlier: LumaPicture, to picture: LumaPicture) -> ContentMotion? { nil }
}

/// A point tracker for builds without optical flow: it doesn't follow points, which makes every
/// frame search every face.
package struct NoPointTracker: PointTracker {
  package init() {}

  /// Returns an empty array.
  package func points(of box: FaceBox, in picture: LumaPicture) -> [PicturePoint] { [] }

  /// Returns `nil` for every point.
  package func follow(
    _ points: [PicturePoint], from first: LumaPicture, to second: LumaPicture
  ) -> [PicturePoint?] {
    points.map { _ in nil }
  }
}
