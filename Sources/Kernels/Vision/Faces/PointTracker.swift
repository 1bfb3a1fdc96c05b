/// Optical flow: chooses points of a face and follows them from one picture to another.
package protocol PointTracker: Sendable {
  /// Returns points of a face that are easy to follow, and none if it has too little texture.
  ///
  /// - Parameters:
  ///   - box: The place of the face, which may reach beyond the picture.
  ///   - picture: The picture that shows it.
  /// - Throws: An error if the choice failed.
  func points(of box: FaceBox, in picture: LumaPicture) throws -> [PicturePoint]

  /// Returns where points of a picture are in another one of the same size, and `nil` for lost
  /// points.
  ///
  /// - Throws: An error if none can be followed.
  mutating func follow(
    _ points: [PicturePoint], from first: LumaPicture, to second: LumaPicture
  ) throws -> [PicturePoint?]

  /// Returns where the content of each cell of a picture was in an earlier one of the same size;
  /// `nil` if the tracker cannot tell. That is the default.
  ///
  /// - Throws: An error if the flow failed.
  func motion(from earlier: LumaPicture, to picture: LumaPicture) throws -> ContentMotion?
}

extension PointTracker {
  package func motion(from earlier: LumaPicture, to picture: LumaPicture) -> ContentMotion? { nil }
}

/// A point tracker for builds without optical flow: it follows nothing, so that each face is
/// searched in every frame.
package struct NoPointTracker: PointTracker {
  package init() {}

  /// Returns no points.
  package func points(of box: FaceBox, in picture: LumaPicture) -> [PicturePoint] { [] }

  /// Returns `nil` for each point.
  package func follow(
    _ points: [PicturePoint], from first: LumaPicture, to second: LumaPicture
  ) -> [PicturePoint?] {
    points.map { _ in nil }
  }
}
