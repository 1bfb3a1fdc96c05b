import CPNG
import SidelightKernels

/// Decodes PNG files using libpng's simplified interface.
struct PNGDecoder {
  let pool: BufferPool
  let limits: ImageLimits

  /// Decodes a file.
  ///
  /// - Precondition: The file begins with the signature of PNG.
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
    // libpng treats a 16-bit file without gamma as linear. Programs that write such files (ffmpeg,
    // ImageMagick) mean sRGB.
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

/// Encodes PNG files using libpng's simplified interface.
struct PNGEncoder {
  let compression: PNGCompression

  func encode(_ frame: Frame) throws(CodecError) -> [UInt8] {
    try frame.withInterleavedPixels(keepingAlpha: true) { pixels throws(CodecError) in
      try self.encode(pixels, size: frame.size)
    }
  }

  private func encode(
    _ pixels: InterleavedPixels, size: FrameSize
  ) throws(CodecError) -> [UInt8] {
    var image = unsafe png_image()
    unsafe image.version = UInt32(PNG_IMAGE_VERSION)
    unsafe image.width = UInt32(size.width)
    unsafe image.height = UInt32(size.height)
    unsafe image.flags = self.compression == .fast ? UInt32(PNG_IMAGE_FLAG_FAST) : 0
    unsafe image.format =
      switch pixels.order {
      case .gray: 0
      case .rgb: UInt32(PNG_FORMAT_FLAG_COLOR)
      case .rgba: UInt32(PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA)
      case .bgra: UInt32(PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA | PNG_FORMAT_FLAG_BGR)
      }
    defer { unsafe png_image_free(&image) }

    let capacity = unsafe sidelight_png_size_max(&image)
    var written = false
    let file = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { bytes, initialized in
      var count = png_alloc_size_t(capacity)
      written =
        unsafe png_image_write_to_memory(
          &image, bytes.baseAddress, &count, 0, pixels.base, Int32(pixels.stride), nil) != 0
      initialized = written ? Int(count) : 0
    }
    guard written else { throw CodecError(.failed, unsafe image.reason) }
    return file
  }
}

/// The trade-off between the time of compression and the size of a PNG. The pixels are the same.
public enum PNGCompression: String, Sendable, Hashable, CaseIterable {
  /// Several times faster. Files are larger, photographs by about a quarter.
  case fast
  /// Smaller files.
  case small
}

/// The header of a PNG file (ISO/IEC 15948, section 5). The file may be hostile.
struct PNGHeader {
  /// The stated size in pixels, not checked.
  let size: FrameSize

  /// Returns whether the file begins with the signature of PNG.
  static func hasSignature(_ file: RawSpan) -> Bool {
    let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    guard file.byteCount >= signature.count else { return false }
    return signature.indices.allSatisfy { file.byte(at: $0) == signature[$0] }
  }

  /// Reads the header, and checks that the file contains all chunks up to the end of the picture.
  ///
  /// libpng stops when it has all pixels, so it does not detect a file that is truncated shortly
  /// before its end.
  ///
  /// - Precondition: ``hasSignature(_:)``.
  /// - Throws: ``CodecError`` with code `truncated` or `corrupt`.
  init(_ file: RawSpan) throws(CodecError) {
    guard let length = file.bigEndian32(at: 8), let type = file.bigEndian32(at: 12),
      let width = file.bigEndian32(at: 16), let height = file.bigEndian32(at: 20)
    else { throw CodecError(.truncated, "the file ends within its header") }
    guard length == 13, type == Self.headerChunk else {
      throw CodecError(.corrupt, "the file does not start with a header chunk")
    }
    self.size = FrameSize(width: width, height: height)
    try Self.walk(file)
  }

  private static let headerChunk = 0x4948_4452  // IHDR
  private static let endChunk = 0x4945_4E44  // IEND

  private static func walk(_ file: RawSpan) throws(CodecError) {
    var offset = 8
    while let length = file.bigEndian32(at: offset), let type = file.bigEndian32(at: offset + 4) {
      guard length <= Int(Int32.max) else {
        throw CodecError(.corrupt, "the chunk at byte \(offset) states \(length) bytes")
      }
      offset += 12 + length
      guard offset <= file.byteCount else { break }
      if type == Self.endChunk { return }
    }
    throw CodecError(
      .truncated, "the file ends after \(file.byteCount) bytes, before the picture does")
  }
}

extension png_image {
  /// The reason of the last failure.
  fileprivate var reason: String {
    var message = unsafe self.message
    return unsafe withUnsafeBytes(of: &message) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
