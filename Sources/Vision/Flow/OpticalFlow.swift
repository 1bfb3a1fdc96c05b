#if Vision
  import CVision
  package import SidelightKernels
  package import SidelightScene

  /// Follows points from one picture to the next, with the method of Lucas and Kanade on a pyramid.
  ///
  /// Points are followed forward and back, and count as lost unless they return to their start.
  package struct OpticalFlow: Sendable {
    /// The side of the square around a point that is compared, in pixels.
    fileprivate static let window = 15
    /// The number of the coarsest level of the pyramid, where 0 is the picture itself. Points can
    /// move by about `window * 2^level / 2` pixels.
    fileprivate static let level = 2
    /// The distance in pixels between the start of a point and the end of its way back, above which
    /// the point is lost.
    private static let tolerance = 1.0
    /// The minimum width and height of pictures for dense flow, in pixels.
    private static let minimumSide = 32

    // The second picture of a call is usually the first one of the next.
    private var last: Pyramid?

    package init() {}

    /// Returns the positions of a picture's points in another picture of the same size, and `nil`
    /// for lost points.
    ///
    /// - Throws: ``VisionError`` if the sizes differ.
    package mutating func follow(
      _ points: [PicturePoint], from first: LumaPicture, to second: LumaPicture
    ) throws(VisionError) -> [PicturePoint?] {
      guard first.width == second.width, first.height == second.height else {
        throw VisionError(
          .failed,
          "the pictures are \(first.width)x\(first.height) and \(second.width)x\(second.height); "
            + "their sizes must be equal"
        )
      }
      let start: Pyramid
      if let last = self.last, last.picture == first {
        start = last
      } else {
        start = try Pyramid(first)
      }
      let end = try Pyramid(second)
      self.last = end

      let positions = points.flatMap { [Float($0.x - 0.5), Float($0.y - 0.5)] }
      var moved = [Float](repeating: 0, count: positions.count)
      var found = [UInt8](repeating: 0, count: points.count)
      let result = unsafe cvision_flow(
        start.handle, end.handle, positions, Int32(points.count), Self.tolerance, &moved, &found)
      guard result == 0 else {
        throw VisionError(.failed, "the optical flow failed: \(VisionError.lastFailure)")
      }
      return points.indices.map { index in
        guard found[index] != 0 else { return nil }
        return PicturePoint(
          x: Double(moved[2 * index]) + 0.5, y: Double(moved[2 * index + 1]) + 0.5)
      }
    }

    /// Chooses points of a face that are easy to follow: its corners in the sense of Shi and
    /// Tomasi, within the ellipse of the face.
    ///
    /// - Parameters:
    ///   - picture: The picture that shows it.
    ///   - count: The number of points. Faces with little texture have fewer.
    /// - Throws: ``VisionError`` if OpenCV fails.
    package static func points(
      of face: DetectedFace, in picture: LumaPicture, count: Int = 36
    ) throws(VisionError) -> [PicturePoint] {
      // The canonical box holds background at its sides. Heads turned by up to 45 degrees still
      // fill the ellipse, which makes the roll irrelevant.
      let largest = Double(Int32.max / 4)
      let width = min(largest, max(3, 0.72 * face.size))
      let height = min(largest, max(3, 0.9 * face.size))
      let x = (face.center.x - width / 2).rounded()
      let y = (face.center.y - height / 2).rounded()
      guard count > 0, abs(x) < largest, abs(y) < largest else { return [] }
      var points = [Float](repeating: 0, count: 2 * count)
      let found = unsafe cvision_corners(
        picture.samples, Int32(picture.width), Int32(picture.height), Int32(x), Int32(y),
        Int32(width.rounded()), Int32(height.rounded()), face.size / 16, &points, Int32(count))
      guard found >= 0 else {
        throw VisionError(.failed, "the choice of points failed: \(VisionError.lastFailure)")
      }
      return (0 ..< Int(found)).map {
        PicturePoint(x: Double(points[2 * $0]) + 0.5, y: Double(points[2 * $0 + 1]) + 0.5)
      }
    }
  }

  extension OpticalFlow: PointTracker {
    /// Chooses corners of a face.
    package func points(
      of box: FaceBox, in picture: LumaPicture
    ) throws -> [PicturePoint] {
      try Self.points(
        of: DetectedFace(center: box.center, size: box.size, roll: box.roll), in: picture)
    }

    /// Returns the earlier positions of the cells' content by using dense flow; `nil` for pictures
    /// of different sizes, or too small for it.
    package func motion(
      from earlier: LumaPicture, to picture: LumaPicture
    ) throws -> ContentMotion? {
      let (width, height) = (picture.width, picture.height)
      guard earlier.width == width, earlier.height == height,
        min(width, height) >= Self.minimumSide
      else { return nil }
      let cells = PictureCells(width: width, height: height)
      var offsets = [Float](repeating: 0, count: 2 * cells.count)
      var levels = [Float](repeating: 0, count: cells.count)
      let result = unsafe cvision_motion(
        earlier.samples, picture.samples, Int32(width), Int32(height),
        Int32(ContentMotion.cellSide), &offsets, &levels)
      guard result == 0 else {
        throw VisionError(.failed, "the dense flow failed: \(VisionError.lastFailure)")
      }
      return ContentMotion(
        offsets: levels.indices.map { SIMD2(offsets[2 * $0], offsets[2 * $0 + 1]) },
        levels: levels)
    }
  }

  /// A picture that is prepared for optical flow.
  @safe
  private final class Pyramid: @unchecked Sendable {  // not changed after its creation
    let picture: LumaPicture
    let handle: OpaquePointer

    init(_ picture: LumaPicture) throws(VisionError) {
      let handle = unsafe cvision_pyramid_create(
        picture.samples, Int32(picture.width), Int32(picture.height), Int32(OpticalFlow.window),
        Int32(OpticalFlow.level))
      guard let handle = unsafe handle else {
        throw VisionError(.failed, "the optical flow failed: \(VisionError.lastFailure)")
      }
      self.picture = picture
      unsafe self.handle = handle
    }

    deinit { unsafe cvision_pyramid_destroy(self.handle) }
  }
#endif
