/// The properties that a plan depends on: format, size and colour description of a frame, without
/// its strides and samples.
public struct FrameGeometry: Sendable, Hashable {
  /// The layout of samples.
  public var format: PixelFormat
  /// The size in pixels.
  public var size: FrameSize
  /// The meaning of the samples as colours.
  public var color: ColorDescription

  /// Creates a geometry.
  public init(format: PixelFormat, size: FrameSize, color: ColorDescription = ColorDescription()) {
    self.format = format
    self.size = size
    self.color = color
  }
}

/// The size of a frame in pixels.
public struct FrameSize: Sendable, Hashable, CustomStringConvertible {
  /// Pixels per row; at least 1 in a valid frame.
  public var width: Int
  /// Rows; at least 1 in a valid frame.
  public var height: Int

  /// Creates a size. ``FrameLayout`` checks whether a frame can have it.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// The number of pixels.
  public var pixelCount: Int { self.width * self.height }

  /// `1920x1080`.
  public var description: String { "\(self.width)x\(self.height)" }
}

/// A pixel format with a colour description: the encoding that a caller requests for a pipeline's
/// results, independent of their size.
public struct FrameEncoding: Sendable, Hashable {
  /// The layout of samples.
  public var format: PixelFormat
  /// The meaning of the samples as colours.
  public var color: ColorDescription

  /// Creates an encoding.
  public init(format: PixelFormat, color: ColorDescription = ColorDescription()) {
    self.format = format
    self.color = color
  }

  /// Whether frames of the geometry have this encoding. Fields that the format ignores are not
  /// compared.
  package func matches(_ geometry: FrameGeometry) -> Bool {
    guard self.format == geometry.format else { return false }
    if self.format.isYUV {
      return self.color.range == geometry.color.range && self.color.matrix == geometry.color.matrix
    }
    return !self.format.hasAlpha || self.color.alpha == geometry.color.alpha
  }
}

extension FrameGeometry {
  /// The meaning of alpha; opaque for formats without alpha.
  package var alpha: AlphaMode { self.format.hasAlpha ? self.color.alpha : .opaque }

  /// Whether frames are without alpha, or their alpha is ignored.
  package var isOpaque: Bool { self.alpha == .opaque }
}
