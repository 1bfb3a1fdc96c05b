import CTurboJPEG
public import SidelightKernels

/// Decodes and encodes series of JPEG files using libjpeg-turbo. Frames use buffers of a pool, and
/// instances of the library are reused.
///
/// All calls block until they are done, and any number of them may run at once. The arguments of a
/// call must not change while it runs: copy bytes that others can write, as in shared memory,
/// first.
///
/// The codec refuses with a ``CodecError`` before it allocates memory for pixels: truncated files,
/// pictures beyond the limits, CMYK, samples of other than 8 bits, lossless and hierarchical files,
/// and files with more than 64 scans, or whose scans together have more pixels than 16 of the
/// largest pictures, since every scan costs a pass over the picture. Damaged samples are an error
/// while they are decoded. Metadata of any length is skipped; an EXIF orientation is ignored. While
/// decoding a progressive file, the library uses 2 more bytes of memory per sample.
public final class JPEGCodec: Sendable {
  private let pool: BufferPool
  private let limits: ImageLimits
  private let decoders: InstancePool<JPEGInstance, CodecError>
  private let encoders: InstancePool<JPEGInstance, CodecError>

  /// - Parameters:
  ///   - pool: The pool of frames and working memory.
  ///   - limits: The maximum size of a decoded picture.
  ///   - maxIdleInstances: The maximum number of idle instances of the library, per kind. The
  ///     number of pictures that are processed at once is enough.
  public init(
    pool: BufferPool, limits: ImageLimits = ImageLimits(), maxIdleInstances: Int = 16
  ) {
    self.pool = pool
    self.limits = limits
    self.decoders = InstancePool(maxIdle: maxIdleInstances) { () throws(CodecError) in
      try JPEGInstance(.decoder)
    }
    self.encoders = InstancePool(maxIdle: maxIdleInstances) { () throws(CodecError) in
      try JPEGInstance(.encoder)
    }
  }

  /// Reads the header of a file, and checks it against the limits. The time is proportional to the
  /// number of segments of metadata.
  ///
  /// - Throws: ``CodecError``.
  public func header(of file: RawSpan) throws(CodecError) -> JPEGHeader {
    let header = try JPEGHeader(file)
    try self.limits.check(header.size)
    return header
  }

  /// Decodes a whole file. Equal bytes give equal frames.
  ///
  /// An `i420` result has full range and BT.601, as JFIF stores. A file with 4:2:0 keeps its
  /// samples. A file with more chroma is reduced to the mean of 2x2 pixels; samples of 4:1:1 are
  /// repeated horizontally; a grey file has no colour. A file with RGB is converted.
  ///
  /// - Parameters:
  ///   - file: The bytes of the file.
  ///   - format: `i420`, `rgb24`, or `gray8` for the luma. `nil` selects the format of
  ///     ``JPEGHeader/geometry``.
  /// - Returns: The picture in a buffer of the pool.
  /// - Throws: ``CodecError`` unless the file is a valid JPEG within the limits.
  /// - Precondition: The format is one of these three.
  public func decode(
    _ file: RawSpan, as format: PixelFormat? = nil
  ) throws(CodecError) -> Frame {
    _ = try self.header(of: file)
    let contents = try JPEGContents(file, limits: self.limits)
    // An instance that has read other files may have tables that this file lacks.
    guard contents.isSelfContained else {
      return try self.decode(file, contents.header, as: format, with: JPEGInstance(.decoder))
    }
    return try self.decoders.withInstance { instance throws(CodecError) in
      try self.decode(file, contents.header, as: format, with: instance)
    }
  }

  private func decode(
    _ file: RawSpan, _ header: JPEGHeader, as format: PixelFormat?, with instance: JPEGInstance
  ) throws(CodecError) -> Frame {
    try unsafe file.withUnsafeBytes { bytes throws(CodecError) in
      try unsafe JPEGDecoder(
        instance: instance, pool: self.pool, bytes: bytes.bindMemory(to: UInt8.self),
        header: header
      ).decode(as: format ?? header.geometry.format)
    }
  }

  /// Encodes a frame of any format to memory of the caller.
  ///
  /// - With 4:2:0, YUV frames of full range and BT.601 keep their samples. Other YUV frames are
  ///   converted to RGB using their matrix and range, and then encoded.
  /// - A `gray8` frame gives a grey file with any subsampling.
  /// - Alpha and orientation are omitted, and colours are written as they are stored.
  ///
  /// Equal frames and settings give equal bytes with the same version of the library.
  ///
  /// - Parameter file: The memory for the file. If it has ``maxByteCount(of:_:)`` bytes, the file
  ///   is written directly, else it is copied from memory of the pool.
  /// - Returns: The number of bytes of the file.
  /// - Throws: ``CodecError`` with code `invalidOption` for a quality outside 1 to 100,
  ///   `limitExceeded` if the file does not fit, or `failed` if the library fails.
  public func encode(
    _ frame: Frame, _ settings: JPEGSettings = JPEGSettings(), into file: inout MutableRawSpan
  ) throws(CodecError) -> Int {
    let capacity = file.byteCount
    if capacity >= Self.maxByteCount(of: frame.size, settings) {
      return try unsafe file.withUnsafeMutableBytes { bytes throws(CodecError) in
        try unsafe self.encode(frame, settings, toWhole: bytes)
      }
    }
    return try self.withEncoded(frame, settings) { encoded throws(CodecError) in
      guard encoded.byteCount <= capacity else {
        throw CodecError(
          .limitExceeded, "the file takes \(encoded.byteCount) bytes, there are \(capacity)")
      }
      unsafe file.withUnsafeMutableBytes { target in
        unsafe encoded.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
      }
      return encoded.byteCount
    }
  }

  /// Encodes a frame to memory of the pool, like ``encode(_:_:into:)``, and calls a function with
  /// the file. The memory is valid during the call.
  public func withEncoded<Result>(
    _ frame: Frame, _ settings: JPEGSettings = JPEGSettings(),
    _ body: (RawSpan) throws(CodecError) -> Result
  ) throws(CodecError) -> Result {
    let capacity = Self.maxByteCount(of: frame.size, settings)
    let buffer = self.pool.makeBuffer(byteCount: capacity)
    defer { extendLifetime(buffer) }
    let file = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<capacity])
    let count = try unsafe self.encode(frame, settings, toWhole: file)
    return try unsafe body(UnsafeRawBufferPointer(rebasing: file[..<count]).bytes)
  }

  /// Encodes a frame.
  ///
  /// - Precondition: The largest file of the frame's size fits.
  private func encode(
    _ frame: Frame, _ settings: JPEGSettings, toWhole file: UnsafeMutableRawBufferPointer
  ) throws(CodecError) -> Int {
    try settings.check()
    return try self.encoders.withInstance { instance throws(CodecError) in
      try unsafe JPEGEncoder(instance: instance, pool: self.pool, settings: settings)
        .encode(frame, into: file)
    }
  }

  /// Returns the maximum size of a file in bytes: about three per pixel with 4:2:0, six with 4:4:4.
  public static func maxByteCount(
    of size: FrameSize, _ settings: JPEGSettings = JPEGSettings()
  ) -> Int {
    let count = tjBufSize(
      Int32(size.width), Int32(size.height), Int32(settings.subsampling.library.rawValue))
    // The library only refuses sizes that overflow its integers, which are invalid for frames.
    precondition(count != UInt.max, "no frame is \(size)")
    return Int(count)
  }
}

/// An instance of libjpeg-turbo. It processes one picture at a time. Creating one costs more than
/// reading the header of a small picture.
@safe
final class JPEGInstance: @unchecked Sendable {  // has one owner: the pool, then one scope
  /// The purpose of an instance.
  enum Kind {
    case decoder, encoder
  }

  /// The handle, valid during the lifetime of the object.
  let handle: tjhandle

  /// Creates an instance.
  ///
  /// - Throws: ``CodecError`` with code `failed` if memory is exhausted.
  init(_ kind: Kind) throws(CodecError) {
    let created =
      switch kind {
      case .decoder: unsafe tjInitDecompress()
      case .encoder: unsafe tjInitCompress()
      }
    guard let handle = unsafe created else {
      throw CodecError(.failed, "libjpeg-turbo has no memory")
    }
    unsafe self.handle = handle
  }

  deinit {
    unsafe _ = tjDestroy(self.handle)
  }

  /// Returns the reason of the last failure.
  func reason() -> String {
    guard let message = unsafe tjGetErrorStr2(self.handle) else { return "no reason given" }
    return unsafe String(cString: message)
  }
}
