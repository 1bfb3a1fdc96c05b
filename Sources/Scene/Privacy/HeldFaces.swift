import SidelightKernels

/// The faces that were lost: places in which they may still be.
///
/// A place moves with the camera. It is at rest as long as its content has not changed since the
/// face was last detected, and has not moved: then the face, or a pattern mistaken for it, is still
/// there.
///
/// A place is held until the same face is found again on its track, or another face appears in the
/// place, and that face is verified (``FacePrivacy``). If it is lost before that, its own place is
/// held too.
///
/// A doubtful face, which two detections found at different places or angles, is held from its
/// second detection on, until it is confirmed. Whatever moves or appears since is covered
/// (``DisturbedPlaces``): if it was a face, it is there or in its place.
struct HeldFaces: Sendable {
  /// A place in which a lost face may be.
  struct Place: Sendable {
    let face: TrackedFace
    /// The movement of the camera since the face was lost, in pixels of the picture.
    var movement = PicturePoint(x: 0, y: 0)

    var center: PicturePoint { self.face.rawBox.center + self.movement }
  }

  /// A lost face.
  struct Face: Sendable {
    /// The places in which it may be: where it was lost, and where it, or another that appeared
    /// there, was found and lost again.
    var places: [Place]
    /// Whether all places have always been at rest.
    var isAtRest = true
    /// The frame in which it was last lost.
    var since: SceneTime
    /// The time since which its places have been at rest.
    var quietSince: Duration
    var growth: Double
    /// The face that was found since; `nil` if no face was found.
    var successor: TrackedFace?
    /// The places to which a doubtful face may have moved; `nil` for a lost one.
    var disturbed: DisturbedPlaces?
  }

  /// The growth of the places of doubtful faces, which are between or at detections.
  private static let doubtfulGrowth = 1.2

  private(set) var faces: [Face] = []

  /// Whether all places of lost faces are at rest.
  var isAtRest: Bool { self.faces.allSatisfy(\.isAtRest) }
  /// The number of held places.
  var count: Int { self.faces.reduce(0) { $0 + $1.places.count } }

  /// Holds the place of a face that the tracker has dropped, or found at another place.
  mutating func lose(_ face: TrackedFace, growth: Double, at frame: SceneTime) {
    let index = self.faces.firstIndex { $0.successor.map(face.isSame(as:)) ?? false }
    if let index {
      self.faces[index].places.append(Place(face: face))
      self.faces[index].successor = nil
      // It was a face.
      if self.faces[index].disturbed != nil { self.faces[index].isAtRest = false }
      self.faces[index].disturbed = nil
      self.faces[index].growth = max(growth, self.faces[index].growth)
      self.faces[index].since = frame
      self.faces[index].quietSince = frame.time
    } else {
      self.faces.append(
        Face(places: [Place(face: face)], since: frame, quietSince: frame.time, growth: growth))
    }
  }

  /// Holds the places of doubtful faces, until they are confirmed.
  mutating func doubt(_ report: FaceReport, in content: UnsearchedContent) {
    self.faces.removeAll { held in
      held.disturbed != nil
        && report.faces.contains { held.places[0].face.isOnSameTrack(as: $0) }
    }
    for face in report.candidates {
      guard let disagreement = face.disagreement else { continue }
      let places = [Place(face: face), Place(face: face, movement: disagreement)]
      let index = self.faces.firstIndex {
        $0.disturbed != nil && $0.places[0].face.isOnSameTrack(as: face)
      }
      guard let index else {
        self.faces.append(
          Face(
            places: places, since: report.frame, quietSince: report.frame.time,
            growth: Self.doubtfulGrowth,
            disturbed: DisturbedPlaces(
              content, since: face.lastDetection, driftLimit: face.rawBox.size / 20)))
        continue
      }
      if self.faces[index].places.allSatisfy({ $0.face.lastDetection != face.lastDetection }) {
        self.faces[index].places += places
        self.faces[index].since = report.frame
      }
    }
  }

  /// Returns the cells to which doubtful faces may have moved; an empty array without such faces.
  func disturbedCells() -> [Bool] {
    self.faces.compactMap { $0.disturbed?.visible }.reduce([]) { cells, other in
      cells.isEmpty ? other : zip(cells, other).map { $0 || $1 }
    }
  }

  /// Notes a face that is reported for the first time, or at a place to which optical flow did not
  /// lead: it is the held face of its track, or the nearest one with a place that contains it.
  ///
  /// - Parameter ellipse: Returns the cover of a place with a growth.
  mutating func find(_ face: TrackedFace, ellipse: (Place, Double) -> CoveredRegion) {
    let center = face.rawBox.center
    let open = self.faces.indices.filter { self.faces[$0].successor == nil }
    let same = open.first { index in
      self.faces[index].places.contains { $0.face.isOnSameTrack(as: face) }
    }
    let near = open.compactMap { index -> (index: Int, distance: Double)? in
      let held = self.faces[index]
      let distances = held.places
        .filter { place in
          face.locatedSince.index > place.face.lastDetection.index
            && ellipse(place, held.disturbed == nil ? held.growth : 1).contains(center)
        }
        .map { ($0.center - center).length }
      return distances.min().map { (index, $0) }
    }
    guard let index = same ?? near.min(by: { $0.distance < $1.distance })?.index else { return }
    self.faces[index].successor = face
  }

  /// Ends holding faces that were found again and are verified.
  mutating func releaseFound(_ report: FaceReport) {
    self.faces.removeAll { held in
      report.faces.contains { face in
        held.successor.map(face.isSame(as:)) ?? false && report.search.verifies(face)
      }
    }
  }

  /// Ends holding faces at empty places.
  mutating func removeAll(where isEmpty: (Face) -> Bool) {
    self.faces.removeAll(where: isEmpty)
  }

  /// Removes the oldest places beyond a limit.
  ///
  /// - Returns: Whether there were any.
  mutating func limit(to limit: Int) -> Bool {
    guard self.count > limit else { return false }
    while self.count > limit { self.faces.removeFirst() }
    return true
  }

  /// Moves the places into a frame, and grows the places that are not at rest.
  ///
  /// - Parameters:
  ///   - content: The frame's content.
  ///   - factor: The growth.
  ///   - ellipse: Returns the cover of a place with a growth.
  mutating func follow(
    _ content: UnsearchedContent, at time: Duration, growingBy factor: Double,
    ellipse: (Place, Double) -> CoveredRegion
  ) {
    for index in self.faces.indices {
      var face = self.faces[index]
      for number in face.places.indices {
        face.places[number].movement = face.places[number].movement + content.cameraStep
      }
      face.disturbed?.add(content)
      face.isAtRest =
        face.isAtRest
        && (face.disturbed != nil
          || face.places.allSatisfy { place in
            content.isUnchanged(ellipse(place, 1), since: place.face.lastDetection, mayMove: false)
          })
      if !face.isAtRest { face.growth *= factor }
      if face.places.contains(where: { content.hasMotion(in: ellipse($0, 1)) }) {
        face.quietSince = time
      }
      self.faces[index] = face
    }
  }
}

extension TrackedFace {
  /// Whether another report means the same track. A lost face that returns is on another one, also
  /// with its id. A tracker that was replaced may use a number again, for a face that was first
  /// detected in another frame.
  func isOnSameTrack(as other: TrackedFace) -> Bool {
    self.track == other.track && self.firstDetection == other.firstDetection
  }

  /// Whether another report means the same track, without a gap between both places.
  func isSame(as other: TrackedFace) -> Bool {
    self.isOnSameTrack(as: other) && self.locatedSince == other.locatedSince
  }
}

/// The places, relative to the camera, at which content has moved or appeared since a frame.
///
/// Other places show what they showed, moved by at most a distance: a face that was elsewhere in that
/// frame is not there.
struct DisturbedPlaces: Sendable {
  /// The largest movement of the camera in cells, beyond which all places count as disturbed.
  private static let movementLimit = 1000.0

  private let cells: PictureCells
  private let driftLimit: Float
  /// The disturbed cells, at their places in the first frame.
  private var isDisturbed: [Bool]
  /// The sums of slow movements in pixels.
  private var drift: [SIMD2<Float>]
  /// The movement of the camera since the first frame, in cells.
  private var movement = SIMD2<Double>.zero

  /// - Parameters:
  ///   - content: The content of the first frame.
  ///   - frame: The frame, which may be earlier, since which content may have appeared.
  ///   - driftLimit: The sum of slow movements, in pixels, above which content has moved.
  init(_ content: UnsearchedContent, since frame: SceneTime, driftLimit: Double) {
    self.cells = content.cells
    self.driftLimit = Float(driftLimit)
    self.isDisturbed = content.disturbed(since: frame)
    self.drift = Array(repeating: .zero, count: content.cells.count)
  }

  /// Adds the next frame.
  mutating func add(_ content: UnsearchedContent) {
    let step = content.cameraStep
    self.movement += SIMD2(step.x, step.y) / Double(ContentMotion.cellSide)
    guard abs(self.movement.x) < Self.movementLimit, abs(self.movement.y) < Self.movementLimit
    else {
      self.movement = .zero
      self.isDisturbed = Array(repeating: true, count: self.cells.count)
      return
    }
    let nearest = self.movement.rounded(.toNearestOrEven)
    for (index, isDisturbed) in content.disturbed().enumerated() {
      if isDisturbed {
        for place in self.places(of: index) { place.map { self.isDisturbed[$0] = true } }
      } else if let place = self.place(of: index, after: nearest) {
        let drift = self.drift[place] + content.drift[index]
        if (drift * drift).sum() > self.driftLimit * self.driftLimit {
          self.isDisturbed[place] = true
        }
        if content.isSearchStarted { self.drift[place] = drift }
      }
    }
  }

  /// Per cell of the last frame, whether it shows a disturbed place, or a place that the first frame
  /// did not show.
  var visible: [Bool] {
    (0 ..< self.cells.count).map { index in
      self.places(of: index).contains { $0.map { self.isDisturbed[$0] } ?? true }
    }
  }

  /// The cells of the first frame that overlap with a cell of the last; `nil` beyond the picture.
  private func places(of index: Int) -> [Int?] {
    let (low, high) = (self.movement.rounded(.down), self.movement.rounded(.up))
    var places = [self.place(of: index, after: low)]
    if low.x != high.x { places.append(self.place(of: index, after: SIMD2(high.x, low.y))) }
    if low.y != high.y { places.append(self.place(of: index, after: SIMD2(low.x, high.y))) }
    if low.x != high.x, low.y != high.y { places.append(self.place(of: index, after: high)) }
    return places
  }

  private func place(of index: Int, after movement: SIMD2<Double>) -> Int? {
    let column = index % self.cells.columns - Int(movement.x)
    let row = index / self.cells.columns - Int(movement.y)
    guard (0 ..< self.cells.columns).contains(column), (0 ..< self.cells.rows).contains(row) else {
      return nil
    }
    return row * self.cells.columns + column
  }
}
