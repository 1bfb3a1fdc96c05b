/// How a picture is brought into a rectangle of another shape.
public enum PictureFit: String, Sendable, Hashable, CaseIterable {
  /// The whole picture, as large as fits; the rectangle may not be filled.
  case fit
  /// The rectangle is filled; what is too much of the picture is cut off on both sides.
  case fill
  /// The picture takes the rectangle's shape.
  case stretch
}
