public import SidelightKernels

/// Turns frames of any format into PNG or JPEG files.
///
/// YUV frames are converted by their own matrix and range; those of full range and BT.601 are what
/// a JPEG stores, and go into one of 4:2:0 as they are. Equal frames and options give equal bytes,
/// with the same versions of the libraries below. Orientation is not written.
public struct ImageEncoder: Sendable {
  /// How a picture is written.
  public enum Target: Sendable, Hashable {
    /// Lossless; keeps alpha: straight as it is, premultiplied made straight, opaque left out.
    ///
    /// - Parameter compression: How hard it is compressed.
    case png(compression: PNGCompression = .fast)
    /// Lossy, and without alpha.
    ///
    /// - Parameters:
    ///   - quality: 1 ... 100.
    ///   - subsampling: How much chroma is kept.
    case jpeg(quality: Int = 90, subsampling: JPEGSubsampling = .none)
  }

  private let target: Target

  /// - Parameter target: How pictures are written.
  public init(_ target: Target) {
    self.target = target
  }

  /// Writes files of a format with its defaults.
  public init(format: ImageFileFormat) {
    switch format {
    case .png: self.init(.png())
    case .jpeg: self.init(.jpeg())
    }
  }

  /// Encodes a whole frame. Blocks while it computes.
  ///
  /// JPEG has no alpha: it is left out, and colours are written as they are stored.
  ///
  /// - Returns: The bytes of the file.
  /// - Throws: ``CodecError`` with code ``CodecError/Code/invalidOption`` for a quality outside
  ///   1 ... 100, or ``CodecError/Code/failed`` if the library below refuses.
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
