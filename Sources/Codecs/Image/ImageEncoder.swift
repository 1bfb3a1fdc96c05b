public import SidelightKernels

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
