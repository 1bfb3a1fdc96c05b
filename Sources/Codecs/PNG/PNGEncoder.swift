import CPNG
import SidelightKernels

/// Encodes PNG files through libpng's simplified interface.
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
