/// A small grey copy of a frame, in which faces are detected and followed.
///
/// Samples are full-range luma, of one byte, in rows from top to bottom without padding.
public struct LumaPicture: Sendable, Equatable {
  /// The number of columns.
  public let width: Int
  /// The number of rows.
  public let height: Int
  /// `width * height` samples.
  public let samples: [UInt8]

  /// Creates a picture.
  ///
  /// - Precondition: `samples.count == width * height`, and both sides are at least 1.
  public init(width: Int, height: Int, samples: [UInt8]) {
    precondition(width > 0 && height > 0 && samples.count == width * height)
    self.width = width
    self.height = height
    self.samples = samples
  }
}

/// A small colour copy of a frame, from which mattes are computed.
///
/// Pixels are R'G'B' as displayed, of three bytes, in rows from top to bottom without padding.
public struct ColorPicture: Sendable, Equatable {
  /// The number of columns.
  public let width: Int
  /// The number of rows.
  public let height: Int
  /// `3 * width * height` samples: red, green, blue of the first pixel, and so on.
  public let samples: [UInt8]

  /// Creates a picture.
  ///
  /// - Precondition: `samples.count == 3 * width * height`, and both sides are at least 1.
  public init(width: Int, height: Int, samples: [UInt8]) {
    precondition(width > 0 && height > 0 && samples.count == 3 * width * height)
    self.width = width
    self.height = height
    self.samples = samples
  }
}

/// A position in a picture, in its pixels: x to the right, y down, (0, 0) is the top left corner of
/// the top left pixel.
public struct PicturePoint: Sendable, Hashable {
  /// The distance from the left edge.
  public var x: Double
  /// The distance from the top edge.
  public var y: Double

  /// Creates a position.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}
