import CTurboJPEG
public import SidelightKernels

/// Decodes and encodes JPEG files, picture after picture, through libjpeg-turbo: from and to frames in
/// buffers of a pool, with instances of the library that are kept for the next picture.
///
/// All calls block while they compute, and any number may be made at once. What a call is given must
/// not change while it lasts: bytes that somebody else can write to, as in shared memory, are to be
/// copied first by whoever knows that they lie there.
///
/// What is refused, each with a ``CodecError`` and before memory is taken for pixels: files that were
/// cut off, pictures beyond the limits, CMYK, samples of other than 8 bits, lossless and hierarchical
/// files, and files of more than 64 scans, or 16 of the largest pictures, each of which costs a pass
/// over the picture. Damage among
/// the samples is found while they are decoded, and ends that. Metadata of any length is skipped; an
/// EXIF orientation is ignored. A progressive file takes the library 2 bytes of memory a sample more
/// while it is decoded.
public final class JPEGCodec: Sendable {
  private let pool: BufferPool
  private let limits: ImageLimits
  private let decoders: JPEGInstancePool
  private let encoders: JPEGInstancePool

  /// - Parameters:
  ///   - pool: Where frames and working memory come from.
  ///   - limits: How large a picture may be that is decoded.
  ///   - maxIdleInstances: The most instances of the library that wait for pictures, of each kind; as
  ///     many as pictures are worked on at once is enough.
  public init(
    pool: BufferPool, limits: ImageLimits = ImageLimits(), maxIdleInstances: Int = 16
  ) {
    self.pool = pool
    self.limits = limits
    self.decoders = JPEGInstancePool(.decoder, maxIdle: maxIdleInstances)
    self.encoders = JPEGInstancePool(.encoder, maxIdle: maxIdleInstances)
  }

  /// Reads what a file says of itself, and checks it against the limits. Costs about as much as the
  /// metadata has segments.
  ///
  /// - Throws: ``CodecError``.
  public func header(of file: RawSpan) throws(CodecError) -> JPEGHeader {
    let header = try JPEGHeader(file)
    try self.limits.check(header.size)
    return header
  }

  /// Decodes a whole file. Equal bytes give equal frames.
  ///
  /// To `i420` of full range and BT.601, which is what JFIF stores: a file of 4:2:0 keeps its
  /// samples. Of one that has more chroma it gets the mean for each 2x2 pixels, of 4:1:1 each sample
  /// twice across; of a grey one no colour. A file of RGB is converted.
  ///
  /// - Parameters:
  ///   - file: The file's bytes.
  ///   - format: `i420` or `rgb24`, or `gray8`, of a picture in colour its luma; by default that of
  ///     ``JPEGHeader/geometry``.
  /// - Returns: The picture in a buffer of the pool.
  /// - Throws: ``CodecError`` for anything that is not a sound JPEG within the limits.
  /// - Precondition: The format is one of those three.
  public func decode(
    _ file: RawSpan, as format: PixelFormat? = nil
  ) throws(CodecError) -> Frame {
    _ = try self.header(of: file)
    let contents = try JPEGContents(file, limits: self.limits)
    return try self.decoders.withInstance(isFresh: !contents.isSelfContained) {
      instance throws(CodecError) in
      try unsafe file.withUnsafeBytes { bytes throws(CodecError) in
        try unsafe JPEGDecoder(
          instance: instance, pool: self.pool, bytes: bytes.bindMemory(to: UInt8.self),
          header: contents.header
        ).decode(as: format ?? contents.header.geometry.format)
      }
    }
  }

  /// Encodes a frame of any format into memory of the caller's.
  ///
  /// - 4:2:0 of a YUV frame of full range and BT.601 keeps its samples; other YUV frames are
  ///   converted to RGB, by their own matrix and range, and from there.
  /// - `gray8` gives a grey file, whatever the subsampling.
  /// - Alpha is left out, and colours are written as they are stored; so is orientation.
  ///
  /// Equal frames and settings give equal bytes, with the same version of the library.
  ///
  /// - Parameter file: Where the file goes. Where ``maxByteCount(of:_:)`` bytes are, it is written
  ///   there directly, else by way of memory of the pool.
  /// - Returns: How many bytes of it, from the first, are the file.
  /// - Throws: ``CodecError``: `invalidOption` for a quality outside 1 ... 100, `limitExceeded` if the
  ///   file does not fit, or `failed` if the library refuses.
  public func encode(
    _ frame: Frame, _ settings: JPEGSettings = JPEGSettings(), into file: inout MutableRawSpan
  ) throws(CodecError) -> Int {
    let room = file.byteCount
    if room >= Self.maxByteCount(of: frame.size, settings) {
      return try unsafe file.withUnsafeMutableBytes { bytes throws(CodecError) in
        try unsafe self.encode(frame, settings, toWhole: bytes)
      }
    }
    return try self.withEncoded(frame, settings) { made throws(CodecError) in
      guard made.byteCount <= room else {
        throw CodecError(
          .limitExceeded, "the file takes \(made.byteCount) bytes, there are \(room)")
      }
      unsafe file.withUnsafeMutableBytes { target in
        unsafe made.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
      }
      return made.byteCount
    }
  }

  /// Encodes a frame into memory of the pool, and lends the file for the length of a call; as
  /// ``encode(_:_:into:)``.
  public func withEncoded<Result>(
    _ frame: Frame, _ settings: JPEGSettings = JPEGSettings(),
    _ body: (RawSpan) throws(CodecError) -> Result
  ) throws(CodecError) -> Result {
    let capacity = Self.maxByteCount(of: frame.size, settings)
    let buffer = self.pool.makeBuffer(byteCount: capacity)
    defer { extendLifetime(buffer) }
    let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<capacity])
    let count = try unsafe self.encode(frame, settings, toWhole: room)
    return try unsafe body(UnsafeRawBufferPointer(rebasing: room[..<count]).bytes)
  }

  /// - Precondition: There is room for any file of the frame's size.
  private func encode(
    _ frame: Frame, _ settings: JPEGSettings, toWhole file: UnsafeMutableRawBufferPointer
  ) throws(CodecError) -> Int {
    try settings.check()
    return try self.encoders.withInstance { instance throws(CodecError) in
      try unsafe JPEGEncoder(instance: instance, pool: self.pool, settings: settings)
        .encode(frame, into: file)
    }
  }

  /// The most bytes that a picture's file can have: about three a pixel for 4:2:0, and six for 4:4:4.
  public static func maxByteCount(
    of size: FrameSize, _ settings: JPEGSettings = JPEGSettings()
  ) -> Int {
    let count = tjBufSize(
      Int32(size.width), Int32(size.height), Int32(settings.subsampling.library.rawValue))
    // The library refuses only what does not fit its integers, and no frame is so large.
    precondition(count != UInt.max, "no frame is \(size)")
    return Int(count)
  }
}
