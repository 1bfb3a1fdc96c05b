public import SidelightKernels

/// The maximum size of a picture. The header of a file is checked before memory is allocated for
/// pixels, since a file of a few hundred bytes can announce a gigabyte of them.
public struct ImageLimits: Sendable, Hashable {
  /// - `maxPixels` (count, default: 67,108,864, at least 1): the maximum width times height. The
  ///   default is 64 Mi pixels, 256 MB as RGBA.
  public var maxPixels: Int
  /// - `maxDimension` (pixels, default and maximum: ``FrameLayout/maxDimension``, at least 1): the
  ///   maximum width and height. A larger value counts as the maximum.
  public var maxDimension: Int

  /// Creates limits; the defaults admit any photograph.
  public init(maxPixels: Int = 64 << 20, maxDimension: Int = FrameLayout.maxDimension) {
    self.maxPixels = maxPixels
    self.maxDimension = maxDimension
  }

  /// Checks a size.
  ///
  /// - Throws: ``CodecError`` with code ``CodecError/Code/limitExceeded``, or with
  ///   ``CodecError/Code/corrupt`` if a side is zero.
  func check(_ size: FrameSize) throws(CodecError) {
    guard size.width > 0, size.height > 0 else {
      throw CodecError(.corrupt, "the header states a picture of \(size) pixels")
    }
    let dimension = min(self.maxDimension, FrameLayout.maxDimension)
    guard max(size.width, size.height) <= dimension else {
      throw CodecError(
        .limitExceeded, "the picture is \(size), the limit is \(dimension) pixels a side")
    }
    guard size.pixelCount <= self.maxPixels else {
      throw CodecError(
        .limitExceeded,
        "the picture is \(size), \(size.pixelCount) pixels; the limit is \(self.maxPixels)")
    }
  }
}
