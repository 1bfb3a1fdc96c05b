import CTurboJPEG
import SidelightKernels

/// Encodes JPEG files through libjpeg-turbo.
struct JPEGEncoder {
  /// 1 ... 100.
  let quality: Int
  let subsampling: JPEGSubsampling

  func encode(_ frame: Frame) throws(CodecError) -> [UInt8] {
    try frame.withInterleavedPixels(keepingAlpha: false) { pixels throws(CodecError) in
      try self.encode(pixels, size: frame.size)
    }
  }

  private func encode(
    _ pixels: InterleavedPixels, size: FrameSize
  ) throws(CodecError) -> [UInt8] {
    let library = try JPEGLibrary.encoder()
    let order =
      switch pixels.order {
      case .gray: TJPF_GRAY
      case .rgb: TJPF_RGB
      case .rgba: TJPF_RGBX
      case .bgra: TJPF_BGRX
      }
    let sampling =
      switch (pixels.order, self.subsampling) {
      case (.gray, _): TJSAMP_GRAY
      case (_, .none): TJSAMP_444
      case (_, .quarter): TJSAMP_420
      }
    let samplingCode = Int32(sampling.rawValue)
    let capacity = tjBufSize(Int32(size.width), Int32(size.height), samplingCode)
    guard capacity != UInt.max else { throw CodecError(.failed, "\(size) is too large for JPEG") }

    var written = false
    let file = unsafe [UInt8](unsafeUninitializedCapacity: Int(capacity)) { bytes, initialized in
      var start = bytes.baseAddress
      var count = capacity
      written =
        unsafe tjCompress2(
          library.handle, pixels.base, Int32(size.width), Int32(pixels.stride),
          Int32(size.height), Int32(order.rawValue), &start, &count, samplingCode,
          Int32(self.quality), Int32(TJFLAG_NOREALLOC) | Int32(TJFLAG_ACCURATEDCT)) == 0
      initialized = written ? Int(count) : 0
    }
    guard written else { throw CodecError(.failed, library.reason()) }
    return file
  }
}
