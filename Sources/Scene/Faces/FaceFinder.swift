import CKernels
public import SidelightKernels

/// A face reported by a finder, in the pixels of the searched picture.
public struct DetectedFace: Sendable, Hashable {
  /// The centre of the canonical box.
  ///
  /// The canonical box is a square around the face, as reported by OpenCV's cascade
  /// `haarcascade_frontalface_alt2`. In an upright face the eyes are at (0.29, 0.37) and (0.69,
  /// 0.37) of the box and the mouth at (0.50, 0.79). A finder with other boxes converts them.
  public var center: PicturePoint
  /// The side of the canonical box. Greater than 0.
  public var size: Double
  /// The angle of the face in radians: positive turns clockwise in the picture, 0 is upright.
  public var roll: Double
  /// The maximum error of ``roll`` in radians: 0 for a finder that measures the angle; for a
  /// cascade, the range of angles in which it finds faces.
  public var rollTolerance: Double
  /// How sure the finder is, 0 to 1.
  public var confidence: Double
  /// The eyes and mouth, for finders that locate them.
  public var landmarks: FaceLandmarks?

  /// Creates a face.
  public init(
    center: PicturePoint, size: Double, roll: Double = 0, rollTolerance: Double = 0,
    confidence: Double = 1, landmarks: FaceLandmarks? = nil
  ) {
    self.center = center
    self.size = size
    self.roll = roll
    self.rollTolerance = rollTolerance
    self.confidence = confidence
    self.landmarks = landmarks
  }
}

/// Points of a face, in the pixels of the searched picture. Left and right refer to the picture,
/// not to the person.
public struct FaceLandmarks: Sendable, Hashable {
  /// The centre of the eye on the left of the picture.
  public var leftEye: PicturePoint
  /// The centre of the eye on the right of the picture.
  public var rightEye: PicturePoint
  /// The middle of the mouth.
  public var mouth: PicturePoint

  /// Creates the points of a face.
  public init(leftEye: PicturePoint, rightEye: PicturePoint, mouth: PicturePoint) {
    self.leftEye = leftEye
    self.rightEye = rightEye
    self.mouth = mouth
  }
}

/// Finds faces in a picture.
///
/// A finder belongs to one session, and is called by one thread at a time. Only ``faces(in:)`` is
/// required, and it need not be asynchronous.
public protocol FaceFinder: Sendable {
  /// Whether searches need the picture in colour. By default they do not.
  var needsColor: Bool { get }

  /// Returns the faces of a picture, in any order; an empty array if it doesn't show a face.
  ///
  /// - Throws: An error if the search failed. A protecting filter then covers the whole frame.
  mutating func faces(in picture: LumaPicture) async throws -> [DetectedFace]

  /// Returns the faces of a picture that a search includes, in any order.
  ///
  /// By default this searches the whole picture and returns the faces that the search includes.
  ///
  /// - Parameters:
  ///   - picture: The reduced frame, as displayed.
  ///   - color: The same frame in colour and of the same size, if ``needsColor``.
  ///   - search: The part of the picture, and the angle and the sizes of the faces.
  /// - Throws: An error if the search failed. A protecting filter then covers the whole frame.
  mutating func faces(
    in picture: LumaPicture, color: ColorPicture?, search: FaceSearch
  ) async throws -> [DetectedFace]
}

extension FaceFinder {
  /// No colour is needed by default.
  public var needsColor: Bool { false }

  /// Searches the whole picture and returns the faces that the search includes.
  public mutating func faces(
    in picture: LumaPicture, color: ColorPicture?, search: FaceSearch
  ) async throws -> [DetectedFace] {
    try await self.faces(in: picture).filter(search.includes)
  }
}

/// The faces that an operation needs to know in every frame.
package struct FaceRequest: Sendable {
  /// The settings of the tracker. The settings of several stages are joined: the maximum number of
  /// faces, the minimum size, and protection if one of them protects.
  package var configuration: FaceTracker.Configuration
  /// The source of finders and optical flow.
  package var tools: FaceTools

  package init(_ configuration: FaceTracker.Configuration, tools: FaceTools) {
    self.configuration = configuration
    self.tools = tools
  }
}

/// The tools with which faces are found and followed.
package struct FaceTools: Sendable {
  /// Creates a finder. A finder is used by one thread at a time.
  package let makeFinder: @Sendable () -> any FaceFinder
  /// Creates a finder for stages that protect. It misses fewer faces, and may take longer.
  package let makeProtectingFinder: @Sendable () -> any FaceFinder
  /// Creates the optical flow of a session.
  package let makePointTracker: @Sendable () -> any PointTracker
  /// Whether the finder is a custom one, which may not return.
  package let isCustom: Bool

  /// - Parameter protectingFinder: `nil` is the same as `finder`.
  package init(
    isCustom: Bool = false, finder: @escaping @Sendable () -> any FaceFinder,
    protectingFinder: (@Sendable () -> any FaceFinder)? = nil,
    points: @escaping @Sendable () -> any PointTracker
  ) {
    self.isCustom = isCustom
    self.makeFinder = finder
    self.makeProtectingFinder = protectingFinder ?? finder
    self.makePointTracker = points
  }

  /// Creates a finder for stages that protect, or for others.
  func finder(protects: Bool) -> any FaceFinder {
    protects ? self.makeProtectingFinder() : self.makeFinder()
  }
}

/// A search of a part of a picture, at an angle, for faces of certain sizes.
public struct FaceSearch: Sendable, Hashable {
  /// The time that a search may spend.
  public enum Effort: String, Sendable, Hashable, CaseIterable {
    /// Finds as many faces as possible.
    case thorough
    /// Takes about half the time and misses a few more faces.
    case quick
  }

  /// A square of a picture. It is turned by the angle of the search about its centre.
  public struct Window: Sendable, Hashable {
    /// The middle of the square.
    public var center: PicturePoint
    /// The side in pixels. Greater than 0.
    public var side: Double

    /// Creates a window.
    public init(center: PicturePoint, side: Double) {
      self.center = center
      self.side = side
    }
  }

  /// The searched part of the picture. `nil` searches the whole picture; at an angle other than 0
  /// the picture is turned about its centre, and its corners are not searched.
  public var window: Window?
  /// The roll of the faces in radians, as in ``DetectedFace/roll``. The search also finds faces
  /// turned by a few degrees more or less.
  public var angle: Double
  /// The range of ``DetectedFace/size`` in pixels. `nil` uses the finder's own range.
  public var sizes: ClosedRange<Double>?
  /// The time that the search may spend.
  public var effort: Effort

  /// Creates a search of the whole picture for upright faces, unless stated otherwise.
  public init(
    window: Window? = nil, angle: Double = 0, sizes: ClosedRange<Double>? = nil,
    effort: Effort = .thorough
  ) {
    self.window = window
    self.angle = angle
    self.sizes = sizes
    self.effort = effort
  }

  /// Returns whether the search includes a face: its centre is in the window, and its size in the
  /// range.
  public func includes(_ face: DetectedFace) -> Bool {
    if let sizes = self.sizes, !sizes.contains(face.size) { return false }
    guard let window = self.window else { return true }
    let x = face.center.x - window.center.x
    let y = face.center.y - window.center.y
    let along = x * cos(self.angle) + y * sin(self.angle)
    let across = y * cos(self.angle) - x * sin(self.angle)
    return max(abs(along), abs(across)) <= window.side / 2
  }
}
