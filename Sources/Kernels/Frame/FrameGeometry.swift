/// What a plan is compiled for: everything about a frame but its strides and its samples.
public struct FrameGeometry: Sendable, Hashable {
  /// The layout of samples.
  public var format: PixelFormat
  /// The size in pixels.
  public var size: FrameSize
  /// What the samples mean as colours.
  public var color: ColorDescription

  /// States a geometry.
  public init(format: PixelFormat, size: FrameSize, color: ColorDescription = ColorDescription()) {
    self.format = format
    self.size = size
    self.color = color
  }
}

/// The size of a frame in pixels.
public struct FrameSize: Sendable, Hashable, CustomStringConvertible {
  /// Pixels a row; at least 1 in a valid frame.
  public var width: Int
  /// Rows; at least 1 in a valid frame.
  public var height: Int

  /// States a size; whether a frame can have it, ``FrameLayout`` finds out.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// The number of pixels.
  public var pixelCount: Int { self.width * self.height }

  /// `1920x1080`.
  public var description: String { "\(self.width)x\(self.height)" }
}

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
