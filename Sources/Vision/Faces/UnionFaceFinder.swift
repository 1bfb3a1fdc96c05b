import SidelightKernels
package import SidelightScene

/// Finds every face that any of several finders finds, for filters that hide faces.
///
/// If one of the finders throws, the search has failed, since its faces are missing.
package struct UnionFaceFinder: FaceFinder {
  /// Detections are of the same face if their distance is below this share of the smaller one's
  /// side.
  private static let nearness = 0.5
  /// Detections are of the same face if the larger one's side is at most this multiple of the
  /// smaller one's. Boxes of different finders differ by less.
  private static let sizeRatio = 1.6

  private var finders: [any FaceFinder]

  /// - Parameter finders: The finders. If two detections show the same face, the earlier finder's
  ///   detection counts.
  package init(_ finders: [any FaceFinder]) {
    self.finders = finders
  }

  /// Whether one of the finders needs colour.
  package var needsColor: Bool { self.finders.contains { $0.needsColor } }

  package mutating func faces(in picture: LumaPicture) throws -> [DetectedFace] {
    try self.union { try $0.faces(in: picture) }
  }

  package mutating func faces(
    in picture: LumaPicture, color: ColorPicture?, search: FaceSearch
  ) throws -> [DetectedFace] {
    try self.union { finder in
      try finder.faces(
        in: picture, color: finder.needsColor ? color : nil, search: search)
    }
  }

  private mutating func union(
    _ faces: (inout any FaceFinder) throws -> [DetectedFace]
  ) throws -> [DetectedFace] {
    var union: [DetectedFace] = []
    for index in self.finders.indices {
      let earlier = union
      for face in try faces(&self.finders[index]) {
        // A finder does not report a face twice: its own detections are not merged.
        let same = earlier.indices.first { Self.areSame(earlier[$0], face) }
        if let same {
          union[same].confidence = max(union[same].confidence, face.confidence)
        } else {
          union.append(face)
        }
      }
    }
    return union
  }

  private static func areSame(_ one: DetectedFace, _ other: DetectedFace) -> Bool {
    let (small, large) = (min(one.size, other.size), max(one.size, other.size))
    let x = one.center.x - other.center.x
    let y = one.center.y - other.center.y
    let reach = Self.nearness * small
    return large <= Self.sizeRatio * small && x * x + y * y < reach * reach
  }
}
