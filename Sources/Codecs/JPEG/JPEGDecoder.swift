import CTurboJPEG
import SidelightKernels

/// Decodes JPEG files through libjpeg-turbo.
struct JPEGDecoder {
  let pool: BufferPool
  let limits: ImageLimits
  let output: ImageDecoder.JPEGOutput

  /// Damage is an error and not a grey patch; a file of a thousand scans, each of which costs a
  /// pass over the picture, is refused by the library; and results do not depend on the machine's
  /// speed.
  private static let flags =
    Int32(TJFLAG_STOPONWARNING) | Int32(TJFLAG_LIMITSCANS) | Int32(TJFLAG_ACCURATEDCT)

  /// - Precondition: The file begins with JPEG's signature.
  func decode(_ file: RawSpan) throws(CodecError) -> Frame {
    let header = try JPEGHeader(file)
    try self.limits.check(header.size)
    return try unsafe file.withUnsafeBytes { bytes throws(CodecError) in
      try unsafe self.decode(bytes.bindMemory(to: UInt8.self), size: header.size)
    }
  }

  private func decode(
    _ bytes: UnsafeBufferPointer<UInt8>, size: FrameSize
  ) throws(CodecError) -> Frame {
    let library = try JPEGLibrary.decoder()
    var width: Int32 = 0
    var height: Int32 = 0
    var subsampling: Int32 = 0
    var colorspace: Int32 = 0
    let parsed = unsafe tjDecompressHeader3(
      library.handle, bytes.baseAddress, UInt(bytes.count), &width, &height, &subsampling,
      &colorspace)
    guard parsed == 0 else { throw Self.error(library.reason()) }
    guard width == size.width, height == size.height else {
      throw CodecError(.corrupt, "the file states two sizes")
    }

    let isYCbCr = colorspace == Int32(TJCS_YCbCr.rawValue)
    let isQuartered = subsampling == Int32(TJSAMP_420.rawValue)
    if colorspace == Int32(TJCS_GRAY.rawValue) {
      return try unsafe self.decodeInterleaved(bytes, library, format: .gray8, size: size)
    } else if self.output == .i420IfSubsampled, isYCbCr, isQuartered {
      return try unsafe self.decodePlanes(bytes, library, size: size)
    } else {
      return try unsafe self.decodeInterleaved(bytes, library, format: .rgb24, size: size)
    }
  }

  private func decodeInterleaved(
    _ bytes: UnsafeBufferPointer<UInt8>, _ library: borrowing JPEGLibrary, format: PixelFormat,
    size: FrameSize
  ) throws(CodecError) -> Frame {
    let frame: MutableFrame
    do {
      frame = try self.pool.makeFrame(FrameGeometry(format: format, size: size))
    } catch {
      throw CodecError(.limitExceeded, error.description)
    }
    let order = format == .gray8 ? TJPF_GRAY : TJPF_RGB
    let decoded = unsafe tjDecompress2(
      library.handle, bytes.baseAddress, UInt(bytes.count), frame.baseAddress(plane: 0),
      Int32(size.width), Int32(frame.layout.planes[0].stride), Int32(size.height),
      Int32(order.rawValue), Self.flags)
    guard decoded == 0 else { throw Self.error(library.reason()) }
    return frame.finish()
  }

  private func decodePlanes(
    _ bytes: UnsafeBufferPointer<UInt8>, _ library: borrowing JPEGLibrary, size: FrameSize
  ) throws(CodecError) -> Frame {
    let layout: FrameLayout
    do {
      layout = try .evenLuma(size: size)
    } catch {
      throw CodecError(.limitExceeded, error.description)
    }
    // The library writes luma rows up to the even size, so the buffer is that of the even frame.
    let frame = self.pool.makeFrame(
      layout: layout, color: ColorDescription(range: .full, matrix: .bt601))
    var strides = layout.planes.map { Int32($0.stride) }
    var planes: [UnsafeMutablePointer<UInt8>?] = unsafe [
      frame.baseAddress(plane: 0), frame.baseAddress(plane: 1), frame.baseAddress(plane: 2),
    ]
    let decoded = unsafe tjDecompressToYUVPlanes(
      library.handle, bytes.baseAddress, UInt(bytes.count), &planes, 0, &strides, 0, Self.flags)
    guard decoded == 0 else { throw Self.error(library.reason()) }
    return frame.finish()
  }

  /// Sorts what the library says. Its texts are part of libjpeg's interface, unchanged for decades;
  /// one that changed would be reported as corruption, with the text.
  private static func error(_ reason: String) -> CodecError {
    let isUnsupported = reason.contains("subsampling type") || reason.contains("Unsupported")
    return CodecError(isUnsupported ? .unsupported : .corrupt, reason)
  }
}
