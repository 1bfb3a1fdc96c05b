import CPNG
import SidelightKernels

/// Decodes PNG files through libpng's simplified interface.
struct PNGDecoder {
  let pool: BufferPool
  let limits: ImageLimits

  /// - Precondition: The file begins with PNG's signature.
  func decode(_ file: RawSpan) throws(CodecError) -> Frame {
    let header = try PNGHeader(file)
    try self.limits.check(header.size)
    return try unsafe file.withUnsafeBytes { bytes throws(CodecError) in
      try unsafe self.decode(bytes, size: header.size)
    }
  }

  private func decode(
    _ bytes: UnsafeRawBufferPointer, size: FrameSize
  ) throws(CodecError) -> Frame {
    var image = unsafe png_image()
    unsafe image.version = UInt32(PNG_IMAGE_VERSION)
    defer { unsafe png_image_free(&image) }
    guard unsafe png_image_begin_read_from_memory(&image, bytes.baseAddress, bytes.count) != 0
    else { throw CodecError(.corrupt, unsafe image.reason) }
    guard unsafe image.width == size.width, unsafe image.height == size.height else {
      throw CodecError(.corrupt, "the file states two sizes")
    }
    // A 16-bit file that is silent about gamma counts as linear to libpng. Those who write such
    // files (ffmpeg, ImageMagick) mean sRGB.
    unsafe image.flags |= UInt32(PNG_IMAGE_FLAG_16BIT_sRGB)
    let hasAlpha = unsafe image.format & UInt32(PNG_FORMAT_FLAG_ALPHA) != 0
    let hasColor = unsafe image.format & UInt32(PNG_FORMAT_FLAG_COLOR) != 0
    let format: PixelFormat = hasAlpha ? .rgba8 : hasColor ? .rgb24 : .gray8
    unsafe image.format =
      switch format {
      case .rgba8: UInt32(PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA)
      case .rgb24: UInt32(PNG_FORMAT_FLAG_COLOR)
      default: 0
      }

    let frame: MutableFrame
    do {
      frame = try self.pool.makeFrame(FrameGeometry(format: format, size: size))
    } catch {
      throw CodecError(.limitExceeded, error.description)
    }
    let read = unsafe png_image_finish_read(
      &image, nil, frame.baseAddress(plane: 0), Int32(frame.layout.planes[0].stride), nil)
    guard read != 0 else { throw CodecError(.corrupt, unsafe image.reason) }
    return frame.finish()
  }
}
