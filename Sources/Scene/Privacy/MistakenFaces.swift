import SidelightKernels

/// The faces that are objects, which the finder has mistaken for faces.
///
/// Searches find a face again while it looks the same. A confirmed face is mistaken if
///
/// - it was detected at most ``detectionLimit`` times, the last time in the frame of the report,
/// - ``FacePrivacy/missedLookLimit`` looks, and full searches at every angle, have missed it since,
/// - in all frames since, its place has looked the same, with a correlation of at least
///   ``likeness``, and has moved only with the camera, and
/// - it has never taken the place of a lost face.
///
/// A detection ends this. While the tracker follows a mistaken face it is covered, as a candidate
/// is, but it cannot be lost.
struct MistakenFaces: Sendable {
  /// The number of detections that confirm every face.
  private static let confirmation = 2
  /// The maximum number of detections of a mistaken face.
  static let detectionLimit = 3
  /// The minimum correlation of a place with the same place in the frame of the last detection.
  static let likeness: Float = 0.95

  private struct Doubt {
    /// The last report.
    var face: TrackedFace
    var detections = MistakenFaces.confirmation
    /// The appearance at the last detection; `nil` if it is not known, or the place has changed.
    var appearance: Appearance?
    /// The angles of the searches that have missed the face since.
    var angles: Set<Double> = []
    var isMistaken = false
  }

  private var doubts: [Doubt] = []

  /// Whether a face is mistaken.
  func contains(_ face: TrackedFace) -> Bool {
    self.doubts.contains { $0.isMistaken && $0.face.isSame(as: face) }
  }

  /// Notes that a face has taken the place of a lost one.
  mutating func trust(_ face: TrackedFace) {
    self.doubts.removeAll { $0.face.isSame(as: face) }
    self.doubts.append(Doubt(face: face, detections: Self.detectionLimit + 1))
  }

  /// Judges the faces of a frame.
  ///
  /// - Parameters:
  ///   - report: The frame's report.
  ///   - picture: Its reduced picture.
  ///   - isAtRest: Whether a face's place shows what it showed, and moves only with the camera.
  /// - Returns: Whether a face is mistaken since this frame.
  mutating func judge(
    _ report: FaceReport, in picture: LumaPicture, isAtRest: (TrackedFace) -> Bool
  ) -> Bool {
    var isNew = false
    self.doubts = report.faces.map { face in
      let known = self.doubts.first { $0.face.isSame(as: face) }
      var doubt = known ?? Doubt(face: face)
      if known == nil || face.lastDetection != doubt.face.lastDetection {
        if known != nil { doubt.detections += 1 }
        doubt.appearance = face.age == 0 ? Appearance(of: face.rawBox, in: picture) : nil
        doubt.angles = []
        doubt.isMistaken = false
      }
      doubt.face = face
      guard !doubt.isMistaken, doubt.detections <= Self.detectionLimit,
        let appearance = doubt.appearance
      else { return doubt }
      let now = Appearance(of: face.rawBox, in: picture)
      guard face.isFollowed, isAtRest(face),
        now.map({ $0.likeness(to: appearance) >= Self.likeness }) ?? false
      else {
        doubt.appearance = nil
        return doubt
      }
      for search in report.search.completed where search.frame > face.lastDetection.index {
        doubt.angles.insert(search.angle)
      }
      doubt.isMistaken =
        face.missedLooks >= FacePrivacy.missedLookLimit
        && FaceTracker.searchAngles.allSatisfy(doubt.angles.contains)
      isNew = isNew || doubt.isMistaken
      return doubt
    }
    return isNew
  }
}

/// The levels of a face's square, in cells.
private struct Appearance: Sendable {
  /// The number of cells across.
  private static let side = 16
  /// The number of samples across a cell.
  private static let samples = 3
  /// The minimum share of the cells in the picture: finders miss faces that an edge cuts.
  private static let minimumShare = 0.75

  /// The mean levels by row; NaN outside of the picture.
  private let levels: [Float]

  /// Returns the appearance of a square; `nil` if the picture shows too little of it.
  init?(of box: FaceBox, in picture: LumaPicture) {
    guard box.isValid else { return nil }
    let (side, samples) = (Self.side, Self.samples)
    self.levels = (0 ..< side * side).map { cell in
      var sum: Float = 0
      for sample in 0 ..< samples * samples {
        let column = cell % side * samples + sample % samples
        let row = cell / side * samples + sample / samples
        let point = box.point(
          u: (Double(column) + 0.5) / Double(side * samples),
          v: (Double(row) + 0.5) / Double(side * samples))
        sum += picture.level(at: point)
      }
      return sum / Float(samples * samples)
    }
    let inside = self.levels.count { !$0.isNaN }
    guard Double(inside) >= Self.minimumShare * Double(self.levels.count) else { return nil }
  }

  /// The correlation with an earlier appearance, -1 to 1, of the cells that both have; 0 without
  /// contrast.
  func likeness(to earlier: Appearance) -> Float {
    let pairs = zip(earlier.levels, self.levels).filter { !$0.isNaN && !$1.isNaN }
    let count = Float(pairs.count)
    let x = pairs.reduce(0) { $0 + $1.0 } / count
    let y = pairs.reduce(0) { $0 + $1.1 } / count
    var (xx, yy, xy): (Float, Float, Float) = (0, 0, 0)
    for (before, after) in pairs {
      xx += (before - x) * (before - x)
      yy += (after - y) * (after - y)
      xy += (before - x) * (after - y)
    }
    let scale = (xx * yy).squareRoot()
    return scale > 0 ? xy / scale : 0
  }
}

extension LumaPicture {
  /// The level at a point, interpolated linearly; NaN outside of the picture.
  fileprivate func level(at point: PicturePoint) -> Float {
    guard (0 ... Double(self.width)).contains(point.x),
      (0 ... Double(self.height)).contains(point.y)
    else { return .nan }
    let (x, y) = (max(point.x - 0.5, 0), max(point.y - 0.5, 0))
    let (left, top) = (min(Int(x), self.width - 1), min(Int(y), self.height - 1))
    let (right, bottom) = (min(left + 1, self.width - 1), min(top + 1, self.height - 1))
    let (u, v) = (Float(x - Double(left)), Float(y - Double(top)))
    func mix(_ row: Int) -> Float {
      let (one, other) = (
        Float(self.samples[row * self.width + left]), Float(self.samples[row * self.width + right])
      )
      return one + u * (other - one)
    }
    let (upper, lower) = (mix(top), mix(bottom))
    return upper + v * (lower - upper)
  }
}
