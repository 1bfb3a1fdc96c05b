import SidelightKernels
package import SidelightScene

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
  package mutating func faces(in picture: LumaPicture) throws -> [DetectedFace] {
    try self.finder.faces(in: picture)
  }

  package mutating func faces(
    in picture: LumaPicture, color: ColorPicture?, search: FaceSearch
  ) throws -> [DetectedFace] {
    let found = try self.finder.faces(in: picture, color: color, search: search)
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
