#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

public import SidelightKernels

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
