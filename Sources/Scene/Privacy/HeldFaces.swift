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
  }

  private(set) var faces: [Face] = []

  /// Whether all places are at rest.
  var isAtRest: Bool { self.faces.allSatisfy(\.isAtRest) }
  /// The number of held places.
  var count: Int { self.faces.reduce(0) { $0 + $1.places.count } }

  /// Holds the place of a face that the tracker has dropped, or found at another place.
  mutating func lose(_ face: TrackedFace, growth: Double, at frame: SceneTime) {
    let index = self.faces.firstIndex { $0.successor.map(face.isSame(as:)) ?? false }
    if let index {
      self.faces[index].places.append(Place(face: face))
      self.faces[index].successor = nil
      self.faces[index].growth = max(growth, self.faces[index].growth)
      self.faces[index].since = frame
      self.faces[index].quietSince = frame.time
    } else {
      self.faces.append(
        Face(places: [Place(face: face)], since: frame, quietSince: frame.time, growth: growth))
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
            && ellipse(place, held.growth).contains(center)
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
      face.isAtRest =
        face.isAtRest
        && face.places.allSatisfy { place in
          content.isUnchanged(ellipse(place, 1), since: place.face.lastDetection, mayMove: false)
        }
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
