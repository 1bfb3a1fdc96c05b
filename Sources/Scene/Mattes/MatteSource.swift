/// The part of every pixel that belongs to a person, at a low resolution.
public struct MatteEstimate: Sendable, Equatable {
  /// The number of columns.
  public let width: Int
  /// The number of rows.
  public let height: Int
  /// `width * height` values, 0 is background and 1 the person.
  public let values: [Float]
  /// Whether the source is certain. A background filter that protects covers the whole frame when
  /// it is not.
  public let isSure: Bool

  /// - Precondition: `values.count == width * height`, and both sides are at least 1.
  public init(width: Int, height: Int, values: [Float], isSure: Bool = true) {
    precondition(width > 0 && height > 0 && values.count == width * height)
    self.width = width
    self.height = height
    self.values = values
    self.isSure = isSure
  }
}

/// Separates the person from the background of a picture.
///
/// A source belongs to one session, and is called by one thread at a time.
public protocol MatteSource: Sendable {
  /// Returns the matte of a picture. Its size may differ from the picture's.
  ///
  /// - Parameters:
  ///   - picture: The reduced frame, as displayed.
  ///   - faces: The faces that are known, in the picture's pixels.
  /// - Throws: An error if the matte cannot be computed. The stage then fails.
  mutating func matte(of picture: ColorPicture, faces: [DetectedFace]) throws -> MatteEstimate
}
