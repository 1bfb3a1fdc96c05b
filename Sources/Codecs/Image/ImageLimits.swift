public import SidelightKernels

/// How large a picture may be. Checked against a file's header, before memory is taken for pixels:
/// a file of a few hundred bytes can announce a gigabyte of them.
public struct ImageLimits: Sendable, Hashable {
  /// The most pixels, width times height; at least 1. Default: 67,108,864 (64 Mi, 256 MB as RGBA).
  public var maxPixels: Int
  /// The most pixels a side, 1 ... ``FrameLayout/maxDimension``, which is the default. A larger
  /// value counts as that.
  public var maxDimension: Int

  /// States limits; the defaults hold any photograph.
  public init(maxPixels: Int = 64 << 20, maxDimension: Int = FrameLayout.maxDimension) {
    self.maxPixels = maxPixels
    self.maxDimension = maxDimension
  }

  /// - Throws: ``CodecError`` with code ``CodecError/Code/limitExceeded``, or with
  ///   ``CodecError/Code/corrupt`` for a side of zero.
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
