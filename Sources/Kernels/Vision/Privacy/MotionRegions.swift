import CKernels

/// Regions of the picture that move and were not searched since: an unknown face may be in them.
///
/// The picture is divided into cells of ``cellSide`` pixels. A cell changes if its mean differs by
/// more than ``threshold`` levels from that of ``interval`` frames ago, after the change of the
/// whole picture's mean is subtracted (exposure), and if two of its eight neighbours change too
/// (noise). A cell that changes after ``restTime`` without a change is pending until a full search
/// at each of ``FaceTracker/searchAngles``, of that or later frames, has succeeded. Two searches
/// are not enough: those at -25 and 25 degrees do not find an upright face. Pending cells that
/// touch form a region. Near the edges through which people enter, all but the lower one, the cells
/// that changed in the last frame and touch them belong to it too: an object that moves on there may
/// show more of a face of which the searches have seen too little.
package struct MotionRegions: Sendable {
  /// A rectangle of pending cells, in pixels of the picture.
  package struct Region: Sendable, Hashable {
    package var x: ClosedRange<Double>
    package var y: ClosedRange<Double>

    /// The number of pixels.
    package var area: Double {
      (self.x.upperBound - self.x.lowerBound) * (self.y.upperBound - self.y.lowerBound)
    }
  }

  /// The side of a cell in pixels.
  package static let cellSide = 4
  /// The largest change of a cell's mean that counts as noise, in levels.
  package static let threshold = 12.0
  /// The distance in frames of the pictures that are compared.
  package static let interval = 4
  /// The distance from an edge, as a share of the picture's height, within which all cells of an
  /// object that moves on are in its region.
  package static let edgeShare = 0.25
  /// The time without change after which a cell is at rest.
  package static let restTime = Duration.seconds(3)

  private struct Cell: Sendable {
    /// The angles that were not searched since.
    var pending: Set<Double> = []
    var since: UInt64 = 0
    var lastChange: Duration?
  }

  private var width = 0
  private var height = 0
  private var columns = 0
  private var rows = 0
  private var cells: [Cell] = []
  private var means: [[Double]] = []
  /// The cells that changed in the last frame.
  private var changed: [Bool] = []
  /// The cells of ``changed`` that belong to no known face.
  private var moving: [Bool] = []

  package init() {}

  /// Adds a frame.
  ///
  /// - Parameters:
  ///   - picture: The reduced picture. Another size than before starts again.
  ///   - frame: Its position.
  ///   - searched: The full searches that have succeeded since the previous call.
  ///   - isKnown: Whether a point belongs to a known face, whose motion is not of interest.
  package mutating func add(
    _ picture: LumaPicture, at frame: SceneTime, searched: [FullSearch],
    isKnown: (PicturePoint) -> Bool
  ) {
    if picture.width != self.width || picture.height != self.height {
      self = MotionRegions()
      (self.width, self.height) = (picture.width, picture.height)
      self.columns = (picture.width + Self.cellSide - 1) / Self.cellSide
      self.rows = (picture.height + Self.cellSide - 1) / Self.cellSide
      self.cells = Array(repeating: Cell(), count: self.columns * self.rows)
    }
    for search in searched {
      for index in self.cells.indices where self.cells[index].since <= search.frame {
        self.cells[index].pending.remove(search.angle)
      }
    }
    self.means.append(self.cellMeans(picture))
    if self.means.count > Self.interval + 1 { self.means.removeFirst() }
    self.changed = self.changes()
    self.moving = self.changed.indices.map { self.changed[$0] && !isKnown(self.center($0)) }
    for index in self.cells.indices where self.moving[index] {
      let last = self.cells[index].lastChange
      if last.map({ frame.time - $0 > Self.restTime }) ?? true {
        self.cells[index].pending = Set(FaceTracker.searchAngles)
        self.cells[index].since = frame.index
      }
      self.cells[index].lastChange = frame.time
    }
  }

  /// Forgets pictures and regions, for example after a cut.
  package mutating func reset() {
    self = MotionRegions()
  }

  /// Whether something changed in the last frame within a region; `nil` asks for the whole picture.
  package func hasMotion(in region: CoveredRegion?) -> Bool {
    self.changed.indices.contains {
      self.changed[$0] && (region?.contains(self.center($0)) ?? true)
    }
  }

  /// Returns the regions whose width or height is more than a share of the picture's height.
  ///
  /// - Parameters:
  ///   - minimumShare: The share.
  ///   - isCovered: Whether a point is covered already.
  package func regions(
    largerThan minimumShare: Double, isCovered: (PicturePoint) -> Bool
  ) -> [Region] {
    var open = self.cells.indices.map { index in
      let center = self.center(index)
      let isPart =
        !self.cells[index].pending.isEmpty || (self.moving[index] && self.isNearEdge(center))
      return isPart && !isCovered(center)
    }
    var regions: [Region] = []
    for start in open.indices where open[start] && !self.cells[start].pending.isEmpty {
      open[start] = false
      var stack = [start]
      var (left, right) = (self.columns, 0)
      var (top, bottom) = (self.rows, 0)
      while let index = stack.popLast() {
        let (column, row) = (index % self.columns, index / self.columns)
        (left, right) = (min(left, column), max(right, column))
        (top, bottom) = (min(top, row), max(bottom, row))
        for neighbour in self.neighbours(column, row) where open[neighbour] {
          open[neighbour] = false
          stack.append(neighbour)
        }
      }
      let side = Self.cellSide * (max(right - left, bottom - top) + 1)
      guard Double(side) > minimumShare * Double(self.height) else { continue }
      regions.append(Region(x: Self.extent(left, right), y: Self.extent(top, bottom)))
    }
    return regions
  }

  /// The pixels from the first to the last cell, and a cell more on both sides.
  private static func extent(_ first: Int, _ last: Int) -> ClosedRange<Double> {
    Double(Self.cellSide * (first - 1)) ... Double(Self.cellSide * (last + 2))
  }

  private func center(_ index: Int) -> PicturePoint {
    PicturePoint(
      x: (Double(index % self.columns) + 0.5) * Double(Self.cellSide),
      y: (Double(index / self.columns) + 0.5) * Double(Self.cellSide))
  }

  private func isNearEdge(_ point: PicturePoint) -> Bool {
    let distance = min(point.x, Double(self.width) - point.x, point.y)
    return distance < Self.edgeShare * Double(self.height)
  }

  private func neighbours(_ column: Int, _ row: Int) -> [Int] {
    var found: [Int] = []
    for y in max(0, row - 1) ... min(self.rows - 1, row + 1) {
      for x in max(0, column - 1) ... min(self.columns - 1, column + 1)
      where x != column || y != row {
        found.append(y * self.columns + x)
      }
    }
    return found
  }

  /// The cells that changed between the oldest and the newest picture.
  private func changes() -> [Bool] {
    guard self.means.count > 1, let before = self.means.first, let after = self.means.last else {
      return Array(repeating: false, count: self.cells.count)
    }
    let differences = zip(after, before).map { $0 - $1 }
    let shift = differences.reduce(0, +) / Double(differences.count)
    let exceeds = differences.map { abs($0 - shift) > Self.threshold }
    return exceeds.indices.map { index in
      guard exceeds[index] else { return false }
      let (column, row) = (index % self.columns, index / self.columns)
      return self.neighbours(column, row).count { exceeds[$0] } >= 2
    }
  }

  private func cellMeans(_ picture: LumaPicture) -> [Double] {
    var sums = Array(repeating: 0, count: self.columns * self.rows)
    for y in 0 ..< picture.height {
      let first = y / Self.cellSide * self.columns
      for column in 0 ..< self.columns {
        let start = column * Self.cellSide
        var sum = 0
        for x in start ..< min(start + Self.cellSide, picture.width) {
          sum += Int(picture.samples[y * picture.width + x])
        }
        sums[first + column] += sum
      }
    }
    return sums.enumerated().map { index, sum in
      let (column, row) = (index % self.columns, index / self.columns)
      let width = min(Self.cellSide, picture.width - column * Self.cellSide)
      let height = min(Self.cellSide, picture.height - row * Self.cellSide)
      return Double(sum) / Double(width * height)
    }
  }
}

extension LumaPicture {
  /// Returns the mean of the absolute differences of two pictures, in levels; `nil` if their sizes
  /// differ.
  package func meanChange(from before: LumaPicture) -> Double? {
    guard self.width == before.width, self.height == before.height else { return nil }
    let sum = unsafe self.samples.withUnsafeBufferPointer { left in
      unsafe before.samples.withUnsafeBufferPointer { right in
        unsafe sl_rows_current().pointee.absolute_difference_u8(
          left.baseAddress.unsafelyUnwrapped, right.baseAddress.unsafelyUnwrapped, left.count)
      }
    }
    return Double(sum) / Double(self.samples.count)
  }
}
