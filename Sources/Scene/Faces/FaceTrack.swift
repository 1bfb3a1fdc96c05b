import SidelightKernels

/// The state of one face in ``FaceTracker``.
struct FaceTrack: Sendable {
  /// The place in one frame, and the movement that led to it.
  private struct Step {
    let frame: SceneTime
    var box: FaceBox
    /// The movement since the step before; `nil` if optical flow failed.
    let flow: SimilarityTransform?
  }

  /// The part of the way that a detection moves a face that optical flow follows.
  static let pull = 0.35
  /// The largest change of size since the last detection that flow may report, in either direction.
  static let maximumDrift = 2.0
  /// The number of frames to keep positions for, for searches that take long.
  static let historyLimit = 32
  /// The minimum time over which ``velocity`` is measured, which limits the effect of a detection's
  /// error.
  static let velocityTime = Duration.milliseconds(200)

  /// The number of the track: it is never used again.
  let number: Int
  /// The reported id: the id of a lost face if the tracker takes this face for it, otherwise
  /// ``number``.
  private(set) var id: FaceID
  /// Whether ``id`` is final.
  private(set) var isNamed = false
  /// The place in ``located``.
  private(set) var box: FaceBox
  /// The frame to which ``box`` belongs.
  private(set) var located: UInt64
  private(set) var confidence: Double
  private(set) var isConfirmed = false
  private(set) var isFollowed = true
  private let firstDetection: SceneTime
  /// The frame since which the position is known without a gap.
  private(set) var locatedSince: SceneTime
  private(set) var lastDetection: SceneTime
  /// The position of the last detection.
  private(set) var detectedBox: FaceBox
  /// The movement of the centre in pixels per second up to the last detection.
  private(set) var velocity = PicturePoint(x: 0, y: 0)
  /// The last frame in which optical flow or a detection measured ``box``.
  private(set) var measured: SceneTime
  /// The number of the tracker's step in which a search for this face last ran.
  var lastLookStep: Int
  private var missed: [UInt64] = []
  private var history: [Step]
  private var previousBox: FaceBox
  /// The movement of this frame according to optical flow; `nil` if it failed, or a detection
  /// replaced it.
  private var movement: (start: FaceBox, end: FaceBox)?
  private var filter = FaceBoxFilter()
  private var filtered: FaceBox

  init(_ number: Int, _ face: DetectedFace, at frame: SceneTime, step: Int) {
    self.number = number
    self.id = FaceID(number)
    self.box = FaceBox(face)
    self.located = frame.index
    self.confidence = face.confidence
    self.firstDetection = frame
    self.locatedSince = frame
    self.lastDetection = frame
    self.detectedBox = self.box
    self.measured = frame
    self.lastLookStep = step
    self.history = [Step(frame: frame, box: self.box, flow: nil)]
    self.previousBox = self.box
    self.filtered = self.box
  }

  var missedLooks: Int { self.missed.count }

  /// The place in an earlier frame, or the earliest known one.
  func box(in frame: UInt64) -> FaceBox {
    self.history.last { $0.frame.index <= frame }?.box ?? self.history.first?.box ?? self.box
  }

  /// Moves the face into the next frame.
  ///
  /// - Parameter flow: The movement; `nil` if optical flow failed, which leaves the position
  ///   unchanged and unknown until the next detection.
  mutating func follow(_ flow: SimilarityTransform?, to frame: SceneTime) {
    var flow = flow.flatMap { $0.isValid ? $0 : nil }
    let start = self.box
    if let moved = flow.map({ self.box.moved(by: $0) }) {
      let drift = moved.size / self.detectedBox.size
      if moved.isValid, (1 / Self.maximumDrift ... Self.maximumDrift).contains(drift) {
        self.box = moved
      } else {
        flow = nil
      }
    }
    if flow == nil { self.isFollowed = false } else { self.measured = frame }
    self.movement = flow.map { _ in (start, self.box) }
    self.located = frame.index
    self.history.append(Step(frame: frame, box: self.box, flow: flow))
    if self.history.count > Self.historyLimit { self.history.removeFirst() }
  }

  /// Applies a detection in this or an earlier frame. An older detection is first moved along with
  /// the face. If optical flow has failed since, the face is known in that frame, from which the
  /// next step follows it, unless a later detection has located it.
  ///
  /// - Parameter window: The time within which a second detection confirms the face.
  mutating func detect(_ face: DetectedFace, at frame: SceneTime, confirmedWithin window: Duration)
  {
    var carried: FaceBox? = FaceBox(face)
    for step in self.history where step.frame.index > frame.index {
      carried = step.flow.flatMap { flow in carried?.moved(by: flow) }
    }
    if let carried, self.isFollowed, FaceMatching.score(self.box, carried) != nil {
      self.box = self.box.pulled(towards: carried, by: Self.pull, rollTolerance: face.rollTolerance)
      if let last = self.history.indices.last { self.history[last].box = self.box }
      self.measured = self.history.last?.frame ?? frame
    } else if frame.index >= self.lastDetection.index {
      self.locate(carried, face, at: frame)
    }
    self.confidence += Self.pull * (face.confidence - self.confidence)
    self.missed.removeAll { $0 <= frame.index }
    guard frame.index > self.lastDetection.index else { return }
    if frame.time - self.lastDetection.time <= window { self.isConfirmed = true }
    self.lastDetection = frame
    self.detectedBox = self.box
    if let now = self.history.last,
      let before = self.history.last(where: { now.frame.time - $0.frame.time >= Self.velocityTime })
    {
      let seconds = (now.frame.time - before.frame.time) / .seconds(1)
      self.velocity = (1 / seconds) * (self.box.center - before.box.center)
    }
  }

  /// Replaces an unknown or wrong position by a detection's position. Its angle may be a guess.
  ///
  /// - Parameter carried: The detection's box in the current frame; `nil` if it cannot be followed.
  private mutating func locate(
    _ carried: FaceBox?, _ face: DetectedFace, at frame: SceneTime
  ) {
    let found = carried ?? FaceBox(face)
    let turned = self.box.pulled(towards: found, by: 1, rollTolerance: face.rollTolerance)
    self.box = FaceBox(center: found.center, size: found.size, roll: turned.roll)
    self.movement = nil
    self.isFollowed = true
    self.locatedSince = frame
    if carried != nil, let last = self.history.indices.last {
      self.history[last].box = self.box
      self.measured = self.history[last].frame
    } else {
      self.located = frame.index
      self.history = [Step(frame: frame, box: self.box, flow: nil)]
      self.measured = frame
    }
  }

  /// Decides the id that is reported: this one, or the track's own.
  mutating func name(_ id: FaceID?) {
    self.isNamed = true
    self.id = id ?? self.id
  }

  /// Counts a search for this face that did not find it.
  mutating func miss(in frame: UInt64) {
    self.missed.append(frame)
    self.confidence *= 0.85
  }

  /// Filters the position and returns the face of this frame.
  ///
  /// - Parameters:
  ///   - elapsed: The time since the previous frame.
  ///   - age: The number of tracked frames since the last detection.
  mutating func finish(elapsed: Duration, age: Int) -> TrackedFace {
    self.filtered = self.filter.filter(self.box, elapsed: elapsed, flow: self.movement)
    let displacement = self.box.center - self.previousBox.center
    self.previousBox = self.box
    return TrackedFace(
      id: self.id, track: self.number, box: self.filtered, rawBox: self.box,
      confidence: self.confidence,
      isConfirmed: self.isConfirmed, isFollowed: self.isFollowed,
      firstDetection: self.firstDetection, locatedSince: self.locatedSince,
      lastDetection: self.lastDetection, age: age,
      missedLooks: self.missedLooks, displacement: displacement, speed: self.filter.speed)
  }
}

extension [FaceTrack] {
  /// The minimum overlap of two tracks of one face.
  private static let mergeOverlap = 0.5

  /// Returns the tracks in the order of their ids. Leaves out candidates, and tracks that the last
  /// looks missed, if they follow the same face as another track.
  func merged() -> [FaceTrack] {
    let order = self.sorted {
      ($0.isConfirmed ? 0 : 1, $0.missedLooks, $0.number)
        < ($1.isConfirmed ? 0 : 1, $1.missedLooks, $1.number)
    }
    var kept: [FaceTrack] = []
    for track in order {
      let isDoubtful = !track.isConfirmed || track.missedLooks > 0
      let isSame = kept.contains { $0.box.overlap(with: track.box) >= Self.mergeOverlap }
      if !(isDoubtful && isSame) { kept.append(track) }
    }
    return kept.sorted { $0.id < $1.id }
  }
}

/// The rules that assign detections to known faces.
enum FaceMatching {
  /// The minimum overlap of the same face.
  static let minimumOverlap = 0.3
  /// The maximum distance of centres of the same face, in mean sizes of both boxes.
  static let maximumDistance = 0.5
  /// The largest ratio of sizes of the same face. A cascade sometimes reports an eye or a mouth as
  /// a small face.
  static let maximumRatio = 2.0

  /// Returns how well two boxes agree: the overlap, plus 1 minus the distance in sizes; `nil` if
  /// they are not the same face.
  static func score(
    _ one: FaceBox, _ other: FaceBox, maximumDistance: Double = Self.maximumDistance
  ) -> Double? {
    guard max(one.size, other.size) <= Self.maximumRatio * min(one.size, other.size) else {
      return nil
    }
    let overlap = one.overlap(with: other)
    let distance = (one.center - other.center).length / ((one.size + other.size) / 2)
    guard overlap >= Self.minimumOverlap || distance < maximumDistance else { return nil }
    return overlap + 1 - distance
  }

  /// Whether a detection is a part or a second report of a face that is known already.
  static func isDuplicate(_ detection: FaceBox, of known: FaceBox) -> Bool {
    let distance = (detection.center - known.center).length
    return detection.overlap(with: known) >= Self.minimumOverlap
      || distance < Self.maximumDistance * max(detection.size, known.size)
  }

  /// Assigns detections to known faces, the best pair first, and every face and detection at most
  /// once.
  ///
  /// - Parameters:
  ///   - known: The boxes of known faces; `nil` excludes a face.
  ///   - detections: The detections.
  ///   - maximumDistance: The maximum distance of centres of the same face, in mean sizes.
  /// - Returns: The pairs of indices.
  static func pairs(
    known: [FaceBox?], detections: [FaceBox], maximumDistance: Double = Self.maximumDistance
  ) -> [(known: Int, detection: Int)] {
    var scored: [(known: Int, detection: Int, score: Double)] = []
    for (index, box) in known.enumerated() {
      guard let box else { continue }
      for (other, detection) in detections.enumerated() {
        if let score = Self.score(box, detection, maximumDistance: maximumDistance) {
          scored.append((index, other, score))
        }
      }
    }
    scored.sort { $0.score > $1.score }
    var (usedKnown, usedDetections) = (Set<Int>(), Set<Int>())
    var pairs: [(known: Int, detection: Int)] = []
    for pair in scored
    where !usedKnown.contains(pair.known) && !usedDetections.contains(pair.detection) {
      usedKnown.insert(pair.known)
      usedDetections.insert(pair.detection)
      pairs.append((pair.known, pair.detection))
    }
    return pairs
  }
}

extension [DetectedFace] {
  /// Returns the plausible detections. Detections of a model may be invalid or outside the picture.
  func plausible(width: Int, height: Int) -> [DetectedFace] {
    self.compactMap { face in
      let box = FaceBox(face)
      guard box.isValid, (0 ... Double(width)).contains(box.center.x),
        (0 ... Double(height)).contains(box.center.y), box.size >= 1,
        box.size <= 2 * Double(Swift.max(width, height))
      else { return nil }
      var face = face
      face.confidence = face.confidence.isNaN ? 0 : Swift.min(Swift.max(face.confidence, 0), 1)
      face.rollTolerance = face.rollTolerance >= 0 ? face.rollTolerance : 0
      return face
    }
  }
}
