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

/// A supported file format of still images.
public enum ImageFileFormat: String, Sendable, Hashable, CaseIterable {
  /// Portable Network Graphics: lossless.
  case png
  /// JPEG: lossy, without alpha.
  case jpeg

  /// Detects the format by the signature of a file. `nil` if the file has neither signature.
  ///
  /// - Parameter bytes: The file or its beginning, at least 8 bytes.
  public init?(sniffing bytes: RawSpan) {
    if PNGHeader.hasSignature(bytes) {
      self = .png
    } else if JPEGHeader.hasSignature(bytes) {
      self = .jpeg
    } else {
      return nil
    }
  }

  /// Selects the format by the extension of a file, in any case: `png`, `jpg` or `jpeg`. `nil` for
  /// other names.
  ///
  /// - Parameter fileName: A name or a path.
  public init?(fileName: String) {
    guard let dot = fileName.lastIndex(of: ".") else { return nil }
    switch fileName[fileName.index(after: dot)...].lowercased() {
    case "png": self = .png
    case "jpg", "jpeg": self = .jpeg
    default: return nil
    }
  }
}

extension RawSpan {
  /// Returns the byte at an offset.
  ///
  /// - Precondition: The offset is within the span.
  func byte(at offset: Int) -> UInt8 {
    precondition((0 ..< self.byteCount).contains(offset), "the offset lies outside the span")
    return unsafe self.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }

  /// Returns the 16-bit number at an offset, most significant byte first. `nil` past the end.
  func bigEndian16(at offset: Int) -> Int? {
    guard offset >= 0, offset <= self.byteCount - 2 else { return nil }
    return Int(self.byte(at: offset)) << 8 | Int(self.byte(at: offset + 1))
  }

  /// Returns the 32-bit number at an offset, most significant byte first. `nil` past the end.
  func bigEndian32(at offset: Int) -> Int? {
    guard let high = self.bigEndian16(at: offset), let low = self.bigEndian16(at: offset + 2) else {
      return nil
    }
    return high << 16 | low
  }
}

/// Encodes frames of any format as PNG or JPEG files.
///
/// YUV frames are converted using their matrix and range. Frames of full range and BT.601 have the
/// form that a JPEG stores; a JPEG with 4:2:0 keeps their samples. Equal frames and options give
/// equal bytes with the same versions of the underlying libraries. The orientation is not written.
public struct ImageEncoder: Sendable {
  /// The format of a file and its options.
  public enum Target: Sendable, Hashable {
    /// Lossless. Straight alpha is kept, premultiplied alpha is converted to straight, and an
    /// opaque frame is written without alpha.
    ///
    /// - Parameter compression: The trade-off between time and size.
    case png(compression: PNGCompression = .fast)
    /// Lossy, without alpha.
    ///
    /// - Parameters:
    ///   - quality: The quality, 1 to 100.
    ///   - subsampling: The chroma subsampling.
    case jpeg(quality: Int = 90, subsampling: JPEGSubsampling = .none)
  }

  private let target: Target

  /// - Parameter target: The format of the files and its options.
  public init(_ target: Target) {
    self.target = target
  }

  /// Creates an encoder with the default options of a format.
  public init(format: ImageFileFormat) {
    switch format {
    case .png: self.init(.png())
    case .jpeg: self.init(.jpeg())
    }
  }

  /// Encodes a whole frame. Blocks until it is done.
  ///
  /// JPEG doesn't support alpha: alpha is omitted, and colours are written as they are stored.
  ///
  /// - Returns: The bytes of the file.
  /// - Throws: ``CodecError`` with code ``CodecError/Code/invalidOption`` for a quality outside
  ///   1 to 100, or ``CodecError/Code/failed`` if the underlying library fails.
  public func encode(_ frame: Frame) throws(CodecError) -> [UInt8] {
    switch self.target {
    case .png(let compression):
      return try PNGEncoder(compression: compression).encode(frame)
    case .jpeg(let quality, let subsampling):
      let codec = JPEGCodec(pool: BufferPool(maxIdleBytes: 0), maxIdleInstances: 0)
      let settings = JPEGSettings(quality: quality, subsampling: subsampling)
      return try codec.withEncoded(frame, settings) { file in
        unsafe file.withUnsafeBytes { unsafe [UInt8]($0) }
      }
    }
  }
}
