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
