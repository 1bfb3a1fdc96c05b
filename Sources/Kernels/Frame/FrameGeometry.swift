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

/// The meaning of a frame's samples as colours.
public struct ColorDescription: Sendable, Hashable {
  /// The range of luma and chroma. RGB and grey formats, which are full range, ignore it.
  public var range: YUVRange
  /// The matrix between RGB and YUV. RGB and grey formats ignore it.
  public var matrix: YUVMatrix
  /// The relation of colour to alpha. Formats without alpha ignore it.
  public var alpha: AlphaMode

  /// Creates a description; by default video range, BT.601 and straight alpha.
  public init(
    range: YUVRange = .video,
    matrix: YUVMatrix = .bt601,
    alpha: AlphaMode = .straight
  ) {
    self.range = range
    self.matrix = matrix
    self.alpha = alpha
  }
}

/// The range of luma and chroma.
public enum YUVRange: String, Sendable, Hashable, CaseIterable {
  /// Luma 16 ... 235, chroma 16 ... 240 ("limited", "studio").
  case video
  /// Luma and chroma 0 ... 255 ("JPEG").
  case full
}

/// The luma coefficients of a YUV format.
public enum YUVMatrix: String, Sendable, Hashable, CaseIterable {
  /// ITU-R BT.601: Kr = 0.299, Kb = 0.114.
  case bt601
  /// ITU-R BT.709: Kr = 0.2126, Kb = 0.0722.
  case bt709
}

/// The relation of colour to alpha.
public enum AlphaMode: String, Sendable, Hashable, CaseIterable {
  /// Alpha is ignored, and passed through unchanged.
  case opaque
  /// Colour is not multiplied by alpha.
  case straight
  /// Colour is multiplied by alpha.
  case premultiplied
}
