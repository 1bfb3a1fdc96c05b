import SidelightKernels
import SidelightScene

/// Faces with known places, and finders and optical flow that measure them with noise.
///
/// Noise is a share of the face's width: a standard deviation of 0.9 % per axis gives the 5.8 px of
/// jitter at 1280 pixels that a cascade had in the prototype, frame by frame, on a face of a
/// quarter of the width.
struct SimulatedScene {
  struct Face {
    var box: FaceBox
    /// Whether a person could recognize the face.
    var isVisible = true
    /// Whether a finder can find it.
    var isDetectable = true
    /// Whether optical flow can follow it into this frame.
    var isFollowable = true
    /// The movement of optical flow instead, for example with a hand; in pixels per frame.
    var drag: PicturePoint?
  }

  enum Finder {
    /// Finds faces with a probability.
    case finds(Double)
    /// Throws, or does not return in time.
    case fails
    /// Does not return: full searches stay under way.
    case hangs
  }

  /// The noise of a detection, in face widths.
  static let detectionNoise = 0.009
  /// The noise of optical flow per frame, in face widths.
  static let flowNoise = 0.0002
  /// The largest angle between a face and the search that finds it: 17 degrees.
  static let angleLimit = 17 * Double.pi / 180
  static let frameTime = Duration.nanoseconds(33_333_333)

  let width: Int
  let height: Int
  /// The faces by frame, in an order that is the same in every frame; `nil` for an absent face.
  let faces: (Int) -> [Face?]
  var finder: (Int) -> Finder = { _ in .finds(1) }
  /// The number of frames after which a full search returns; 0 is at once.
  var latency = 2
  var random: TestRandom
  var tracker: FaceTracker
  private var results: [(due: Int, result: FaceTracker.SearchResult)] = []

  init(
    width: Int = 320, height: Int = 180, seed: UInt64 = 1,
    tracking: FaceTracker.Configuration = FaceTracker.Configuration(),
    faces: @escaping (Int) -> [Face?]
  ) {
    self.width = width
    self.height = height
    self.faces = faces
    self.random = TestRandom(seed: seed)
    self.tracker = FaceTracker(tracking, width: width, height: height)
  }

  static func time(_ frame: Int) -> SceneTime {
    SceneTime(index: UInt64(frame), time: Self.frameTime * frame)
  }

  /// Runs the tracker on a frame, as a session does.
  mutating func step(_ frame: Int) -> FaceReport {
    for entry in self.results where entry.due <= frame { self.tracker.record(entry.result) }
    self.results.removeAll { $0.due <= frame }
    var flow: [FaceID: SimilarityTransform] = [:]
    for target in self.tracker.followTargets { flow[target.face] = self.flow(target, to: frame) }
    let plan = self.tracker.advance(to: Self.time(frame), flow: flow)
    for look in plan.looks {
      self.tracker.record(FaceTracker.LocalSearchResult(look, self.look(look, in: frame)))
    }
    if let search = plan.fullSearch, let outcome = self.search(search, in: frame) {
      let result = FaceTracker.SearchResult(search, outcome)
      if self.latency == 0 {
        self.tracker.record(result)
      } else {
        self.results.append((frame + self.latency, result))
      }
    }
    return self.tracker.finish()
  }

  /// The face that is nearest to a box, and covers its centre.
  private func face(at box: FaceBox, in frame: Int) -> Int? {
    let faces = self.faces(frame)
    let distances = faces.indices.compactMap { index in
      faces[index].map { (index, Self.distance($0.box.center, box.center) / $0.box.size) }
    }
    return distances.filter { $0.1 < 0.5 }.min { $0.1 < $1.1 }?.0
  }

  mutating func flow(_ target: FollowTarget, to frame: Int) -> SimilarityTransform? {
    var total = SimilarityTransform.identity
    for next in Int(target.frame) + 1 ..< frame + 1 {
      guard let index = self.face(at: target.box.moved(by: total), in: next - 1),
        let before = self.faces(next - 1)[index]
      else { continue }
      guard let after = self.faces(next)[index], after.isFollowable else { return nil }
      let size = after.box.size
      if let drag = after.drag {
        let moved = SimilarityTransform(a: 1, b: 0, tx: drag.x, ty: drag.y)
        total = total.followed(by: moved)
        continue
      }
      let place = PicturePoint(
        x: after.box.center.x + self.gaussian() * Self.flowNoise * size,
        y: after.box.center.y + self.gaussian() * Self.flowNoise * size)
      let scale = size / before.box.size * (1 + self.gaussian() * Self.flowNoise)
      let rotation = after.box.roll - before.box.roll + self.gaussian() * Self.flowNoise
      // Beyond these limits SimilarityFit refuses the movement.
      guard abs(rotation) < SimilarityFit.maximumRotation, abs(scale - 1) < 0.18,
        Self.distance(before.box.center, after.box.center) < 0.3 * size
      else { return nil }
      total = total.followed(
        by: SimilarityTransform(
          scale: scale, rotation: rotation, from: before.box.center, to: place))
    }
    return total
  }

  mutating func search(_ search: FullSearch, in frame: Int) -> SearchOutcome? {
    switch self.finder(frame) {
    case .fails: return .failed
    case .hangs: return nil
    case .finds(let recall):
      return .found(
        self.faces(frame).compactMap { $0 }.compactMap { face in
          face.box.size < search.minimumSize
            ? nil : self.detect(face, angle: search.angle, recall: recall)
        })
    }
  }

  mutating func look(_ look: LocalLook, in frame: Int) -> SearchOutcome {
    guard case .finds(let recall) = self.finder(frame) else { return .failed }
    return .found(
      self.faces(frame).compactMap { $0 }.compactMap { face in
        let distance = Self.distance(face.box.center, look.box.center)
        guard distance + face.box.size / 2 <= look.windowSide / 2,
          look.sizes.contains(face.box.size)
        else { return nil }
        return self.detect(face, angle: look.box.roll, recall: recall)
      })
  }

  mutating func detect(_ face: Face, angle: Double, recall: Double) -> DetectedFace? {
    let isInside =
      (0 ... Double(self.width)).contains(face.box.center.x)
      && (0 ... Double(self.height)).contains(face.box.center.y)
    guard isInside, face.isDetectable, abs(face.box.roll - angle) <= Self.angleLimit,
      Double.random(in: 0 ..< 1, using: &self.random) < recall
    else { return nil }
    let noise = Self.detectionNoise * face.box.size
    return DetectedFace(
      center: PicturePoint(
        x: face.box.center.x + noise * self.gaussian(),
        y: face.box.center.y + noise * self.gaussian()),
      size: face.box.size + noise * self.gaussian(), roll: angle,
      rollTolerance: Self.angleLimit, confidence: 0.9)
  }

  /// A number of the normal distribution, as the sum of twelve uniform ones.
  mutating func gaussian() -> Double {
    var sum = -6.0
    for _ in 0 ..< 12 { sum += Double.random(in: 0 ..< 1, using: &self.random) }
    return sum
  }

  static func distance(_ one: PicturePoint, _ other: PicturePoint) -> Double {
    let (x, y) = (one.x - other.x, one.y - other.y)
    return (x * x + y * y).squareRoot()
  }

  /// The value below which a share of the values lie.
  static func percentile(_ share: Double, _ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted[min(Int(share * Double(sorted.count)), sorted.count - 1)]
  }
}

extension SimilarityTransform {
  static let identity = SimilarityTransform(a: 1, b: 0, tx: 0, ty: 0)

  /// Returns this movement followed by another.
  func followed(by next: SimilarityTransform) -> SimilarityTransform {
    let moved = next(PicturePoint(x: self.tx, y: self.ty))
    return SimilarityTransform(
      a: next.a * self.a - next.b * self.b, b: next.b * self.a + next.a * self.b,
      tx: moved.x, ty: moved.y)
  }
}

extension FaceCoverage {
  /// Whether the whole frame is covered.
  var isWhole: Bool {
    if case .whole = self { true } else { false }
  }
}
