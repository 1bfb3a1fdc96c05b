public import SidelightKernels

/// Decodes PNG and JPEG files to frames.
///
/// - PNG: 8-bit grey becomes `gray8`, 8-bit RGB `rgb24`, anything with alpha `rgba8` with straight
///   alpha. Fewer bits and palettes are expanded, 16 bits are reduced to 8. Samples of a file that
///   states a gamma other than sRGB's are converted to sRGB.
/// - JPEG: grey becomes `gray8`, colour `rgb24`; or `i420` (full range, BT.601), see
///   ``JPEGOutput``.
///
/// An EXIF orientation is ignored: the frame is upright as stored. Truncated and corrupt files are
/// refused, even if a part of the picture could be decoded. Equal bytes give equal frames.
public struct ImageDecoder: Sendable {
  /// The format to which a JPEG is decoded.
  public enum JPEGOutput: Sendable, Hashable {
    /// `rgb24`, or `gray8` if the file is grey.
    case rgb
    /// `i420` if the chroma of the file is subsampled 4:2:0, which is lossless; otherwise like
    /// ``rgb``.
    case i420IfSubsampled
  }

  private let pool: BufferPool
  private let limits: ImageLimits
  private let jpeg: JPEGCodec
  private let jpegOutput: JPEGOutput

  /// - Parameters:
  ///   - pool: The pool of the frames' buffers.
  ///   - limits: The maximum size of a picture.
  ///   - jpegOutput: The format to which a JPEG is decoded.
  public init(
    pool: BufferPool, limits: ImageLimits = ImageLimits(), jpegOutput: JPEGOutput = .rgb
  ) {
    self.pool = pool
    self.limits = limits
    self.jpeg = JPEGCodec(pool: pool, limits: limits, maxIdleInstances: 1)
    self.jpegOutput = jpegOutput
  }

  /// Decodes a whole file. Blocks until it is done.
  ///
  /// - Parameter file: The bytes of the file.
  /// - Returns: The picture in a buffer of the pool.
  /// - Throws: ``CodecError`` unless the file is a valid PNG or JPEG within the limits.
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

  /// Decodes a whole file, like ``decode(_:)-(RawSpan)``.
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
  /// Returns the size of the picture in the header of a PNG or JPEG file, without decoding it or
  /// allocating memory.
  ///
  /// - Parameters:
  ///   - file: The whole file.
  ///   - limits: The maximum size of the picture.
  /// - Throws: ``CodecError`` if the file has neither format, if its header is invalid, or if the
  ///   picture exceeds the limits.
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
