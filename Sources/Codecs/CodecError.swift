public import SidelightKernels

/// The reason why a picture cannot be read or written.
public struct CodecError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The name of the code.
    public let description: String

    /// The bytes are not in a supported format.
    public static let unknownFormat = Code(description: "unknownFormat")
    /// The file ends before the end of the picture.
    public static let truncated = Code(description: "truncated")
    /// The file violates its format.
    public static let corrupt = Code(description: "corrupt")
    /// The file may be valid, but its kind is not supported: CMYK, 12 bits, lossless JPEG.
    public static let unsupported = Code(description: "unsupported")
    /// The picture exceeds the ``ImageLimits``. The codec did not allocate memory for it.
    public static let limitExceeded = Code(description: "limitExceeded")
    /// An option of the encoder is out of range.
    public static let invalidOption = Code(description: "invalidOption")
    /// The underlying library failed; the message has its reason, usually a lack of memory.
    public static let failed = Code(description: "failed")
    /// The picture is predicted from a picture that is missing or damaged. A key frame helps.
    package static let missingReference = Code(description: "missingReference")
  }

  /// The kind of error.
  public let code: Code
  /// The error with its values, in one sentence.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The code and the message.
  public var description: String { "\(self.code): \(self.message)" }
}

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
