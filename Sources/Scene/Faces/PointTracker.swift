package import SidelightKernels

/// Optical flow: chooses points of a face and follows them from one picture to another.
package protocol PointTracker: Sendable {
  /// Returns points of a face that are easy to follow; an empty array if it has too little texture.
  ///
  /// - Parameters:
  ///   - box: The position of the face, which may reach beyond the picture.
  ///   - picture: The picture that shows it.
  /// - Throws: An error if the choice failed.
  func points(of box: FaceBox, in picture: LumaPicture) throws -> [PicturePoint]

  /// Returns where points of a picture are in another one of the same size, and `nil` for lost
  /// points.
  ///
  /// - Throws: An error if no point can be followed.
  mutating func follow(
    _ points: [PicturePoint], from first: LumaPicture, to second: LumaPicture
  ) throws -> [PicturePoint?]

  /// Returns the earlier positions of the content of a picture's cells, in an earlier picture of
  /// the same size; `nil`, the default, if the tracker cannot compute them.
  ///
  /// - Throws: An error if the flow failed.
  func motion(from earlier: LumaPicture, to picture: LumaPicture) throws -> ContentMotion?
}

extension PointTracker {
  package func motion(from earlier: LumaPicture, to picture: LumaPicture) -> ContentMotion? { nil }
}

/// A point tracker for builds without optical flow: it doesn't follow points, which makes every
/// frame search every face.
package struct NoPointTracker: PointTracker {
  package init() {}

  /// Returns an empty array.
  package func points(of box: FaceBox, in picture: LumaPicture) -> [PicturePoint] { [] }

  /// Returns `nil` for every point.
  package func follow(
    _ points: [PicturePoint], from first: LumaPicture, to second: LumaPicture
  ) -> [PicturePoint?] {
    points.map { _ in nil }
  }
}
