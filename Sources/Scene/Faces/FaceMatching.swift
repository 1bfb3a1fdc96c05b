import SidelightKernels

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
