import CKernels
package import SidelightKernels

/// The parts of a picture that full searches have not seen: an unknown face may be in them.
///
/// The content of every cell (``PictureCells``) is followed from search to search, and keeps the
/// frame since which it is known. A cell shows the content of a cell of the last searched picture
/// if their mean levels differ by at most ``threshold``, after the change of light of the whole
/// picture: the cell to which optical flow leads, or else the one in the same place. Other content
/// is new. Content is searched when full searches at all ``FaceTracker/searchAngles``, of frames in
/// which it was known, have succeeded. Two angles are not enough: searches at -25 and 25 degrees do
/// not find an upright face.
///
/// A search does not find a face that is cut by an edge. Content that has come in through the left,
/// the right or the upper edge, because it or the camera moves, therefore counts as new until it
/// was searched at a distance of ``edgeShare`` from the edges, or ``restTime`` after it came to
/// rest.
package struct UnsearchedContent: Sendable {
  /// A rectangle of the picture, in pixels.
  package struct Region: Sendable, Hashable {
    package var x: ClosedRange<Double>
    package var y: ClosedRange<Double>
  }

  /// The maximum difference of a cell's mean that is noise, in levels.
  package static let threshold: Float = 12
  /// The minimum width and height of a region, as a share of the picture's height: smaller faces
  /// are not recognized.
  package static let minimumShare = 0.08
  /// The distance from an edge, as a share of the picture's height, within which a search may have
  /// seen only a part of a face.
  package static let edgeShare = 0.4
  /// The time after which incoming content at rest no longer counts as a part of a face, and the
  /// time constant with which the distance that content has moved is forgotten.
  package static let restTime = Duration.seconds(10)
  /// The distance from the camera's movement from which on content moves, in pixels.
  private static let movement: Float = 0.75

  /// The distance in cells by which an incoming object reaches beyond the content that flow has
  /// followed.
  private static let reach = 6

  /// The content of a picture, cell by cell.
  private struct Content: Sendable {
    let frame: SceneTime
    let levels: [Float]
    /// The number of the frame since which the content is known.
    var since: [UInt64]
    /// The distance to the position from which the content came, in pixels.
    var origins: [SIMD2<Float>]
    /// The time at which the content last entered through an edge; `nil` if it didn't.
    var entered: [Duration?]
    /// The number of the last frame in which the content was near an edge.
    var nearEdge: [UInt64]
    /// Whether the content moves relative to the camera, compared with the last searched picture.
    var moves: [Bool]
    /// Whether it moves so now, or moved so in the last searched picture.
    var moved: [Bool]

    /// Creates the content of a frame in which all is new.
    init(frame: SceneTime, levels: [Float]) {
      self.frame = frame
      self.levels = levels
      self.since = Array(repeating: frame.index, count: levels.count)
      self.origins = Array(repeating: .zero, count: levels.count)
      self.entered = Array(repeating: nil, count: levels.count)
      self.nearEdge = self.since
      self.moves = Array(repeating: false, count: levels.count)
      self.moved = self.moves
    }

    /// Continues the content of a cell of an earlier picture.
    mutating func inherit(_ index: Int, from source: Int, of key: Content) {
      self.since[index] = key.since[source]
      self.entered[index] = key.entered[source]
      self.nearEdge[index] = key.nearEdge[source]
    }
  }

  private var width = 0
  private var height = 0
  private var cells = PictureCells(width: 1, height: 1)
  private var current: Content?
  /// The content of the last picture with a search.
  private var key: Content?
  /// The latest searched frame per angle.
  private var searched: [Double: UInt64] = [:]
  private var moving: [Bool] = []
  /// The distance to the same place in the last searched picture, as far as ``cameraStep`` has
  /// counted it: the median of all cells, in pixels.
  private var camera = SIMD2<Float>.zero
  /// The camera's movement since the last frame, in pixels of the picture.
  private(set) package var cameraStep = PicturePoint(x: 0, y: 0)
  /// The distance that the camera has moved the picture since the last searched one, in pixels.
  package var cameraDistance: Float { Self.length(self.camera) }

  package init() {}

  /// Adds a frame.
  ///
  /// - Parameters:
  ///   - picture: The reduced picture. Another size than before starts again.
  ///   - frame: Its position.
  ///   - motion: Its motion since the last frame in which a search was started; `nil` if it could
  ///     not be computed.
  ///   - search: The state of full searches.
  package mutating func add(
    _ picture: LumaPicture, at frame: SceneTime, motion: ContentMotion?,
    search: FaceReport.SearchStatus
  ) {
    if picture.width != self.width || picture.height != self.height {
      self = UnsearchedContent()
      (self.width, self.height) = (picture.width, picture.height)
      self.cells = PictureCells(width: picture.width, height: picture.height)
    }
    for done in search.completed {
      self.searched[done.angle] = max(done.frame, self.searched[done.angle] ?? 0)
    }
    var content = Content(frame: frame, levels: self.cells.means(of: picture))
    self.moving = Array(repeating: false, count: self.cells.count)
    self.cameraStep = PicturePoint(x: 0, y: 0)
    // Cameras are compared with the last searched picture, which may be the last frame.
    if self.key?.frame == self.current?.frame { self.camera = .zero }
    if let key {
      let isOfKey = motion?.frame == key.frame.index && motion?.isValid(for: self.cells) ?? false
      self.follow(&content, from: key, isOfKey ? motion : nil)
    }
    self.settle(&content)
    if search.isStarted { self.key = content }
    self.current = content
  }

  /// Forgets all content, for example after a cut.
  package mutating func reset() {
    self = UnsearchedContent()
  }

  /// Whether content in a region moves relative to the camera; `nil` checks the whole picture.
  package func hasMotion(in region: CoveredRegion?) -> Bool {
    self.moving.indices.contains {
      self.moving[$0] && (region?.contains(self.cells.center($0)) ?? true)
    }
  }

  /// Whether a region's content is unchanged since an earlier frame, except for a tenth of its
  /// cells: flow is not exact in fine patterns.
  ///
  /// - Parameter mayMove: Whether it may have moved relative to the camera since.
  package func isUnchanged(
    _ region: CoveredRegion, since frame: SceneTime, mayMove: Bool
  ) -> Bool {
    guard let current else { return false }
    let inside = self.indices(in: region)
    let changed = inside.count {
      current.since[$0] > frame.index || (!mayMove && self.moving[$0])
    }
    return !inside.isEmpty && 10 * changed <= inside.count
  }

  private func indices(in region: CoveredRegion) -> [Int] {
    let side = Double(ContentMotion.cellSide)
    let reach = max(region.radiusX, region.radiusY)
    func range(_ center: Double, _ count: Int) -> Range<Int> {
      guard reach.isFinite, center.isFinite else { return 0 ..< count }
      let first = min(max((center - reach) / side, 0), Double(count))
      let last = min(max((center + reach) / side + 1, first), Double(count))
      return Int(first) ..< Int(last)
    }
    let columns = range(region.center.x, self.cells.columns)
    return range(region.center.y, self.cells.rows).flatMap { row in
      columns.map { row * self.cells.columns + $0 }
    }.filter { region.contains(self.cells.center($0)) }
  }

  /// Returns rectangles that contain the content that was not searched, and the number of pixels in
  /// them that searches have not seen. The others have come in through an edge, and searches may
  /// have seen a part of a face.
  ///
  /// - Parameter isCovered: Whether a point is covered already.
  package func regions(isCovered: (PicturePoint) -> Bool) -> (rectangles: [Region], unseen: Int) {
    guard let current else { return ([], 0) }
    let last = self.lastSearched
    let isUnseen = current.since.map { since in last.map { since > $0 } ?? true }
    let entered = self.entered(current)
    let unsearched = self.large(isUnseen.indices.map { isUnseen[$0] || entered[$0] })
    let covered = unsearched.indices.map { unsearched[$0] && !isCovered(self.cells.center($0)) }
    let unseen = self.large(isUnseen)
    let count = covered.indices.count { covered[$0] && unseen[$0] }
    return (
      self.rectangles(covered), count * ContentMotion.cellSide * ContentMotion.cellSide
    )
  }

  /// Closes gaps of a cell, leaves out areas too small for a face, and adds a cell on every side.
  /// The cells are extended beyond the edges, because an edge may cut a face.
  private func large(_ cells: [Bool]) -> [Bool] {
    let side = Self.minimumShare * Double(self.height) / Double(ContentMotion.cellSide)
    let reach = max(0, (Int(side) - 1) / 2)
    let margin = reach + 1
    let (grid, extended) = self.cells.extended(cells, by: margin)
    let closed = grid.shrunk(grid.grown(extended, by: 1), by: 1)
    let large = grid.grown(grid.shrunk(closed, by: reach), by: reach + 1)
    return cells.indices.map { index in
      let (column, row) = (index % self.cells.columns, index / self.cells.columns)
      return large[(row + margin) * grid.columns + column + margin]
    }
  }

  // MARK: - Content

  /// The latest frame since which the picture was searched at every angle; `nil` before.
  private var lastSearched: UInt64? {
    let frames = FaceTracker.searchAngles.compactMap { self.searched[$0] }
    return frames.count == FaceTracker.searchAngles.count ? frames.min() : nil
  }

  /// Finds the content of cells in the last searched picture.
  private mutating func follow(
    _ content: inout Content, from key: Content, _ motion: ContentMotion?
  ) {
    let light = LightChange(from: motion?.levels ?? key.levels, to: content.levels)
    let hasChanged = self.differences(of: content.levels, from: key.levels, light)
    // Flow is not exact at the edges of moving objects, which hide and uncover content.
    let flowFails = motion.map {
      self.cells.grown(self.differences(of: content.levels, from: $0.levels, light), by: 1)
    }
    if let motion {
      let camera = Self.median(motion.offsets)
      let step = self.camera - camera
      self.cameraStep = PicturePoint(x: Double(step.x), y: Double(step.y))
      self.camera = camera
    }
    let camera = self.camera
    let decay = Float(max(0, 1 - (content.frame.time - key.frame.time) / Self.restTime))
    for index in content.since.indices {
      if let motion, let flowFails, !flowFails[index] {
        let offset = motion.offsets[index]
        let center = self.cells.center(index)
        let (x, y) = (Float(center.x) + offset.x, Float(center.y) + offset.y)
        content.moves[index] = Self.length(offset - camera) > Self.movement
        content.moved[index] = content.moves[index]
        self.moving[index] = hasChanged[index] && content.moves[index]
        if let source = self.cells.cell(x: x, y: y) {
          content.inherit(index, from: source, of: key)
          content.origins[index] = decay * key.origins[source] + offset
          if key.moves[source] { content.moved[index] = true }
        } else {
          content.origins[index] = offset
        }
      } else if !hasChanged[index] {
        content.inherit(index, from: index, of: key)
        content.origins[index] = decay * key.origins[index]
      } else {
        self.moving[index] = true
        content.moves[index] = true
        content.moved[index] = true
      }
    }
  }

  /// The cells with different levels and two such neighbours: one or two alone are noise.
  private func differences(
    of levels: [Float], from before: [Float], _ light: LightChange
  ) -> [Bool] {
    let exceeds = levels.indices.map { !(abs(light(before[$0]) - levels[$0]) <= Self.threshold) }
    let isMany = self.cells.having(3, of: exceeds, within: 1)
    return exceeds.indices.map { exceeds[$0] && isMany[$0] }
  }

  /// Notes incoming content, and forgets it where it was searched away from the edges.
  private func settle(_ content: inout Content) {
    let last = self.lastSearched
    let distance = Self.edgeShare * Double(self.height)
    let right = Double(self.cells.columns * ContentMotion.cellSide)
    for index in content.since.indices {
      let (center, origin) = (self.cells.center(index), content.origins[index])
      if min(center.x, Double(self.width) - center.x, center.y) <= distance {
        content.nearEdge[index] = content.frame.index
      }
      if let last, content.nearEdge[index] < last {
        content.origins[index] = .zero
        content.entered[index] = nil
        continue
      }
      let (x, y) = (center.x + Double(origin.x), center.y + Double(origin.y))
      guard x < 0 || x > right || y < 0 else { continue }
      content.entered[index] = content.frame.time
      // A cell beyond the edge, to forget it soon at rest.
      let side = Double(ContentMotion.cellSide)
      content.origins[index] = SIMD2(
        Float(min(max(x, -side), right + side) - center.x), Float(max(y, -side) - center.y))
    }
  }

  /// The cells with content that has come in through an edge, and moving content next to it: where
  /// an object hides the picture before it, its origin is unknown to the flow.
  private func entered(_ content: Content) -> [Bool] {
    var entered = content.entered.map { time in
      time.map { content.frame.time - $0 < Self.restTime } ?? false
    }
    for _ in 0 ..< Self.reach {
      let near = self.cells.grown(entered, by: 1)
      entered = near.indices.map { entered[$0] || near[$0] && content.moved[$0] }
    }
    return entered
  }

  // MARK: - Rectangles

  /// Divides cells, in blocks of two by two, into rectangles.
  private func rectangles(_ cells: [Bool]) -> [Region] {
    let (columns, rows) = ((self.cells.columns + 1) / 2, (self.cells.rows + 1) / 2)
    var open = [Bool](repeating: false, count: columns * rows)
    for index in cells.indices where cells[index] {
      open[index / self.cells.columns / 2 * columns + index % self.cells.columns / 2] = true
    }
    var regions: [Region] = []
    for start in open.indices where open[start] {
      let (row, left) = (start / columns, start % columns)
      var right = left
      while right + 1 < columns, open[row * columns + right + 1] { right += 1 }
      let run = left ... right
      var bottom = row
      while bottom + 1 < rows, run.allSatisfy({ open[(bottom + 1) * columns + $0] }) { bottom += 1 }
      for y in row ... bottom {
        for x in run { open[y * columns + x] = false }
      }
      regions.append(Region(x: Self.extent(left, right), y: Self.extent(row, bottom)))
    }
    return regions
  }

  /// The pixels from the first to the last block.
  private static func extent(_ first: Int, _ last: Int) -> ClosedRange<Double> {
    let side = 2 * ContentMotion.cellSide
    return Double(side * first) ... Double(side * (last + 1))
  }

  // MARK: - Numbers

  private static func length(_ vector: SIMD2<Float>) -> Float {
    (vector * vector).sum().squareRoot()
  }

  private static func median(_ vectors: [SIMD2<Float>]) -> SIMD2<Float> {
    SIMD2(vectors.median(of: \.x), vectors.median(of: \.y))
  }
}

extension Array {
  /// Returns the median of a value, of at most a thousand elements at equal distances.
  fileprivate func median(of value: (Element) -> Float) -> Float {
    let chosen = stride(from: 0, to: self.count, by: self.count / 1000 + 1).map { value(self[$0]) }
    return chosen.isEmpty ? 0 : chosen.sorted()[chosen.count / 2]
  }
}

/// The change of the light between two pictures: `gain level + offset`.
///
/// It is fitted to all cells that differ by less than ``tolerance`` from the median change, then
/// from the fit, to ignore objects that come and go.
struct LightChange: Sendable {
  /// The maximum difference of a cell that counts, in levels.
  static let tolerance: Float = 24
  static let gains: ClosedRange<Float> = 0.5 ... 2

  private var gain: Float = 1
  private var offset: Float = 0

  init(from before: [Float], to after: [Float]) {
    self.offset = zip(before, after).map { $1 - $0 }.median { $0 }
    for _ in 0 ..< 2 { self.refine(before, after) }
  }

  /// The level after the change.
  func callAsFunction(_ level: Float) -> Float { self.gain * level + self.offset }

  /// Fits the change to the cells that it explains by using least squares.
  private mutating func refine(_ before: [Float], _ after: [Float]) {
    var (count, x, y, xx, xy): (Float, Float, Float, Float, Float) = (0, 0, 0, 0, 0)
    for index in before.indices
    where abs(self(before[index]) - after[index]) <= Self.tolerance {
      count += 1
      x += before[index]
      y += after[index]
      xx += before[index] * before[index]
      xy += before[index] * after[index]
    }
    guard count > 0 else { return }
    let variance = xx - x * x / count
    let slope = variance > count ? (xy - x * y / count) / variance : 1
    self.gain = min(max(slope, Self.gains.lowerBound), Self.gains.upperBound)
    self.offset = (y - self.gain * x) / count
  }
}
