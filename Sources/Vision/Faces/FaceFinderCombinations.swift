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

  package mutating func faces(in picture: LumaPicture) async throws -> [DetectedFace] {
    try await self.union { try await $0.faces(in: picture) }
  }

  package mutating func faces(
    in picture: LumaPicture, color: ColorPicture?, search: FaceSearch
  ) async throws -> [DetectedFace] {
    try await self.union { finder in
      try await finder.faces(
        in: picture, color: finder.needsColor ? color : nil, search: search)
    }
  }

  private mutating func union(
    _ faces: (inout any FaceFinder) async throws -> [DetectedFace]
  ) async throws -> [DetectedFace] {
    var union: [DetectedFace] = []
    for index in self.finders.indices {
      let earlier = union
      for face in try await faces(&self.finders[index]) {
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

/// Searches whole pictures with one finder, and windows around known faces with another.
package struct TwoRangeFaceFinder: FaceFinder {
  private var far: any FaceFinder
  private var near: any FaceFinder

  /// - Parameters:
  ///   - far: The finder for whole pictures, in which faces are small.
  ///   - near: The finder for windows, which a face fills.
  package init(far: any FaceFinder, near: any FaceFinder) {
    self.far = far
    self.near = near
  }

  package var needsColor: Bool { self.far.needsColor || self.near.needsColor }

  package mutating func faces(in picture: LumaPicture) async throws -> [DetectedFace] {
    try await self.far.faces(in: picture)
  }

  package mutating func faces(
    in picture: LumaPicture, color: ColorPicture?, search: FaceSearch
  ) async throws -> [DetectedFace] {
    search.window == nil
      ? try await self.far.faces(in: picture, color: color, search: search)
      : try await self.near.faces(in: picture, color: color, search: search)
  }
}

/// Adds the eyes and the mouth to the faces of a finder, and the position, size and angle that
/// follow from them.
package struct LandmarkFaceFinder: FaceFinder {
  /// Returns a face with its landmarks; `nil` if the model doesn't find a face.
  package typealias Locate = @Sendable (DetectedFace, ColorPicture) throws -> DetectedFace?

  /// The maximum number of faces of a search that get landmarks, the largest first. A model takes
  /// several milliseconds per face.
  static let limit = 4
  /// The maximum distance between a detection and the face that is located there, in sides of the
  /// detection. One that is farther away is another face.
  private static let largestDistance = 0.5
  private static let sizes = 0.6 ... 1.6

  private var finder: any FaceFinder
  private let locate: Locate

  package init(_ finder: any FaceFinder, locate: @escaping Locate) {
    self.finder = finder
    self.locate = locate
  }

  package var needsColor: Bool { true }

  /// Returns the faces without landmarks, which need colour.
  package mutating func faces(in picture: LumaPicture) async throws -> [DetectedFace] {
    try await self.finder.faces(in: picture)
  }

  package mutating func faces(
    in picture: LumaPicture, color: ColorPicture?, search: FaceSearch
  ) async throws -> [DetectedFace] {
    let found = try await self.finder.faces(in: picture, color: color, search: search)
      .sorted { $0.size > $1.size }
    guard let color else { return found }
    return try found.enumerated().map { index, face in
      guard index < Self.limit, let located = try self.locate(face, color),
        Self.agree(face, located)
      else { return face }
      var result = located
      result.confidence = face.confidence
      return result
    }
  }

  private static func agree(_ face: DetectedFace, _ located: DetectedFace) -> Bool {
    let x = face.center.x - located.center.x
    let y = face.center.y - located.center.y
    let reach = Self.largestDistance * face.size
    return x * x + y * y <= reach * reach && Self.sizes.contains(located.size / face.size)
  }
}
