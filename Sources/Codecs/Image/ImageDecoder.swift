public import SidelightKernels

/// Turns PNG and JPEG files into frames.
///
/// - PNG: 8-bit grey becomes `gray8`, 8-bit RGB `rgb24`, anything with alpha `rgba8` with straight
///   alpha. Fewer bits and palettes are expanded, 16 bits are reduced to 8. Samples of a file that
///   states a gamma other than sRGB's are converted to sRGB.
/// - JPEG: grey becomes `gray8`, colour `rgb24`; or `i420` (full range, BT.601), see
///   ``JPEGOutput``.
///
/// An EXIF orientation is ignored: the frame is upright as stored. Truncated and corrupt files are
/// refused, even if part of the picture could be had. Equal bytes give equal frames.
public struct ImageDecoder: Sendable {
  /// What a JPEG is decoded to.
  public enum JPEGOutput: Sendable, Hashable {
    /// `rgb24`, or `gray8` if the file is grey.
    case rgb
    /// `i420` if the file's chroma is subsampled 4:2:0, so that nothing is lost on the way;
    /// otherwise as ``rgb``.
    case i420IfSubsampled
  }

  private let pool: BufferPool
  private let limits: ImageLimits
  private let jpeg: JPEGCodec
  private let jpegOutput: JPEGOutput

  /// - Parameters:
  ///   - pool: Where the frames' buffers come from.
  ///   - limits: How large a picture may be.
  ///   - jpegOutput: What a JPEG is decoded to.
  public init(
    pool: BufferPool, limits: ImageLimits = ImageLimits(), jpegOutput: JPEGOutput = .rgb
  ) {
    self.pool = pool
    self.limits = limits
    self.jpeg = JPEGCodec(pool: pool, limits: limits, maxIdleInstances: 1)
    self.jpegOutput = jpegOutput
  }

  /// Decodes a whole file. Blocks while it computes.
  ///
  /// - Parameter file: The file's bytes.
  /// - Returns: The picture in a buffer of the pool.
  /// - Throws: ``CodecError`` for anything that is not a sound PNG or JPEG within the limits.
  public func decode(_ file: RawSpan) throws(CodecError) -> Frame {
    switch ImageFileFormat(sniffing: file) {
    case .png:
      try PNGDecoder(pool: self.pool, limits: self.limits).decode(file)
    case .jpeg:
      try self.jpeg.decode(file, as: self.jpegOutput.format(for: self.jpeg.header(of: file)))
    case nil:
      throw CodecError(.unknownFormat, "the \(file.byteCount) bytes are neither PNG nor JPEG")
    }
  }

  /// Decodes a whole file; as ``decode(_:)-(RawSpan)``.
  public func decode(_ file: [UInt8]) throws(CodecError) -> Frame {
    try unsafe self.decode(file.span.bytes)
  }
}

extension ImageDecoder.JPEGOutput {
  fileprivate func format(for header: JPEGHeader) -> PixelFormat {
    switch (header.chroma, self) {
    case (.none, _): .gray8
    case (.every(columns: 2, rows: 2), .i420IfSubsampled): .i420
    case (.every, _): .rgb24
    }
  }
}

extension ImageDecoder {
  /// The size of the picture that a PNG or JPEG file states in its header; nothing is decoded, and no
  /// memory taken.
  ///
  /// - Parameters:
  ///   - file: The whole file.
  ///   - limits: How large the picture may be.
  /// - Throws: ``CodecError`` for a file that is neither, whose header is unsound, or whose picture is
  ///   larger than the limits.
  public static func size(
    of file: RawSpan, limits: ImageLimits = ImageLimits()
  ) throws(CodecError) -> FrameSize {
    let size: FrameSize
    switch ImageFileFormat(sniffing: file) {
    case .png: size = try PNGHeader(file).size
    case .jpeg: size = try JPEGHeader(file).size
    case nil:
      throw CodecError(.unknownFormat, "the \(file.byteCount) bytes are neither PNG nor JPEG")
    }
    try limits.check(size)
    return size
  }
}

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
