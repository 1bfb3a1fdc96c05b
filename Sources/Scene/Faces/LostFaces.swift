import SidelightKernels

/// The faces that a tracker has dropped, and their recognition among new faces.
///
/// A face is recognized by its position only; the appearance of faces is not compared. A new face
/// therefore gets the id of a lost one only if
///
/// - it is near the place where the lost one was last measured, or where it would be now if it had
///   moved on for at most ``extrapolationTime``: at most half a face width away, and half a width
///   more per second;
/// - their sizes differ by a factor of at most ``maximumRatio``;
/// - other lost or hidden faces could not have come there with a speed of ``reachSpeed``: two faces
///   that change places while both are hidden both have new ids;
/// - a second new face isn't as near.
///
/// Places are pixels of the reduced picture. A person who takes the place of a face that is hidden
/// alone gets its id.
struct LostFaces: Sendable {
  /// The distance in face widths at which a face that returns at once is the same.
  static let minimumDistance = FaceMatching.maximumDistance
  /// The growth of this distance, in face widths per second.
  static let driftSpeed = 0.5
  /// The largest ratio of sizes of the same face.
  static let maximumRatio = 1.5
  /// The longest time for which a lost face counts as moving on.
  static let extrapolationTime = Duration.seconds(1)
  /// The largest speed that a face can have while it is hidden, in face widths per second: about
  /// the speed of a person who walks past.
  static let reachSpeed = 8.0
  /// The number of frames between looks at a lost face.
  static let lookInterval = 3

  /// A position at which a face was measured.
  struct Place: Sendable {
    let box: FaceBox
    /// The movement in pixels per second.
    let velocity: PicturePoint
    /// The time of the measurement.
    let time: Duration

    /// Returns the position after the face has moved on; the same one if it rested.
    func extrapolated(to now: Duration) -> FaceBox {
      let seconds = max(.zero, min(now - self.time, extrapolationTime)) / .seconds(1)
      return FaceBox(
        center: self.box.center + seconds * self.velocity, size: self.box.size,
        roll: self.box.roll)
    }

    /// Returns the distance of a face in face widths; `nil` if it is too far away to be the same,
    /// or of another size.
    func distance(of other: FaceBox, at now: Duration) -> Double? {
      let ratio = max(self.box.size, other.size) / min(self.box.size, other.size)
      guard ratio <= maximumRatio else { return nil }
      let start = self.box.center
      let way = self.extrapolated(to: now).center - start
      let offset = other.center - start
      // The nearest point of the way.
      let square = way.x * way.x + way.y * way.y
      let share =
        square > 0 ? min(max((offset.x * way.x + offset.y * way.y) / square, 0), 1) : 0
      let distance = (offset - share * way).length / self.box.size
      let limit = minimumDistance + driftSpeed * (max(.zero, now - self.time) / .seconds(1))
      return distance <= limit ? distance : nil
    }

    /// Whether the face can be at another position.
    func reaches(_ other: FaceBox, at now: Duration) -> Bool {
      let seconds = max(.zero, now - self.time) / .seconds(1)
      let limit = minimumDistance + reachSpeed * seconds
      return (other.center - self.box.center).length <= limit * self.box.size
    }
  }

  /// A face that may be hidden: a lost one, or one that looks miss.
  struct Hidden: Sendable {
    let id: FaceID
    /// Where it was last detected, and where optical flow has followed it since, which may have
    /// followed a hand.
    let places: [Place]

    init(_ track: FaceTrack) {
      self.id = track.id
      var places = [
        Place(box: track.detectedBox, velocity: track.velocity, time: track.lastDetection.time)
      ]
      if track.measured.index > track.lastDetection.index {
        places.append(
          Place(box: track.box, velocity: PicturePoint(x: 0, y: 0), time: track.measured.time))
      }
      self.places = places
    }

    func distance(of box: FaceBox, at now: Duration) -> Double? {
      self.places.compactMap { $0.distance(of: box, at: now) }.min()
    }

    func reaches(_ box: FaceBox, at now: Duration) -> Bool {
      self.places.contains { $0.reaches(box, at: now) }
    }
  }

  private struct Lost {
    let face: Hidden
    /// The time of the last frame in which the face was reported.
    let time: Duration
    var lastLookStep: Int
    var looks = 0
  }

  private var faces: [Lost] = []

  /// Whether a face is lost.
  func contains(_ id: FaceID) -> Bool { self.faces.contains { $0.face.id == id } }

  /// Adds a face that the tracker drops.
  ///
  /// - Parameters:
  ///   - track: The face, with its final id.
  ///   - time: The time of the last frame that reported it.
  ///   - step: The number of the tracker's step.
  ///   - limit: The maximum number of lost faces. The oldest are forgotten.
  mutating func add(_ track: FaceTrack, reported time: Duration, step: Int, limit: Int) {
    self.faces.append(Lost(face: Hidden(track), time: time, lastLookStep: step))
    if self.faces.count > limit { self.faces.removeFirst(self.faces.count - limit) }
  }

  /// Forgets the faces that were last reported ``FaceTracker/returnTime`` ago.
  mutating func expire(at now: Duration) {
    self.faces.removeAll { now - $0.time >= FaceTracker.returnTime }
  }

  /// Returns the look at a lost face that is due, at all of its positions in turn; `nil` if no look
  /// is due. At most one is due in a frame.
  mutating func nextLook(step: Int, at now: Duration) -> LocalLook? {
    let index = self.faces.indices
      .filter { step - self.faces[$0].lastLookStep >= Self.lookInterval }
      .min { self.faces[$0].lastLookStep < self.faces[$1].lastLookStep }
    guard let index else { return nil }
    let face = self.faces[index].face
    var boxes: [FaceBox] = []
    for box in face.places.map(\.box) + face.places.map({ $0.extrapolated(to: now) })
    where !boxes.contains(where: { ($0.center - box.center).length <= $0.size / 2 }) {
      boxes.append(box)
    }
    let box = boxes[self.faces[index].looks % boxes.count]
    self.faces[index].lastLookStep = step
    self.faces[index].looks += 1
    return LocalLook(face: face.id, box: box)
  }

  /// Recognizes new faces as lost ones, and forgets these lost faces.
  ///
  /// - Parameters:
  ///   - new: The positions of faces that were confirmed in this frame.
  ///   - candidates: The positions of faces that are not confirmed yet.
  ///   - hidden: Faces that the tracker follows, and that looks miss.
  ///   - now: The frame's time.
  /// - Returns: The ids of the new faces; `nil` for an unknown face.
  mutating func ids(
    of new: [FaceBox], candidates: [FaceBox], hidden: [Hidden], at now: Duration
  ) -> [FaceID?] {
    var pairs: [(lost: Hidden, index: Int, distance: Double)] = []
    for lost in self.faces.map(\.face) {
      for (index, box) in new.enumerated() {
        if let distance = lost.distance(of: box, at: now) { pairs.append((lost, index, distance)) }
      }
    }
    pairs.sort { $0.distance < $1.distance }
    let everyone = self.faces.map(\.face) + hidden
    var ids = [FaceID?](repeating: nil, count: new.count)
    var assigned: Set<FaceID> = []
    for (lost, index, _) in pairs where ids[index] == nil && !assigned.contains(lost.id) {
      let isReached = everyone.contains {
        $0.id != lost.id && $0.reaches(new[index], at: now)
      }
      let others = new.indices.filter { $0 != index }.map { new[$0] } + candidates
      let isRivalled = others.contains { lost.distance(of: $0, at: now) != nil }
      guard !isReached, !isRivalled else { continue }
      ids[index] = lost.id
      assigned.insert(lost.id)
    }
    self.faces.removeAll { assigned.contains($0.face.id) }
    return ids
  }
}
