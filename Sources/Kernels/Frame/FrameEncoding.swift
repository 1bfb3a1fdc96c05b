/// How a picture is to be encoded, whatever its size: what somebody asks the results of a pipeline to
/// be.
public struct FrameEncoding: Sendable, Hashable {
  /// The layout of samples.
  public var format: PixelFormat
  /// What the samples mean as colours.
  public var color: ColorDescription

  /// States an encoding.
  public init(format: PixelFormat, color: ColorDescription = ColorDescription()) {
    self.format = format
    self.color = color
  }

  /// Whether frames of the geometry are encoded like this already, as far as it has a meaning.
  package func matches(_ geometry: FrameGeometry) -> Bool {
    guard self.format == geometry.format else { return false }
    if self.format.isYUV {
      return self.color.range == geometry.color.range && self.color.matrix == geometry.color.matrix
    }
    return !self.format.hasAlpha || self.color.alpha == geometry.color.alpha
  }
}
