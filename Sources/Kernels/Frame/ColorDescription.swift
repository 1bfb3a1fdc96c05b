/// What the numbers of a frame mean as colours.
public struct ColorDescription: Sendable, Hashable {
  /// The range of luma and chroma; without meaning for RGB and grey formats, which are full range.
  public var range: YUVRange
  /// The matrix between RGB and YUV; without meaning for RGB and grey formats.
  public var matrix: YUVMatrix
  /// How colour relates to alpha; without meaning for formats that have no alpha.
  public var alpha: AlphaMode

  /// Video range, BT.601 and straight alpha, unless said otherwise.
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

/// The values that luma and chroma take.
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

/// How colour relates to alpha.
public enum AlphaMode: String, Sendable, Hashable, CaseIterable {
  /// Alpha is to be ignored, and is passed on untouched.
  case opaque
  /// Colour is not multiplied by alpha.
  case straight
  /// Colour is already multiplied by alpha.
  case premultiplied
}
