import CTurboJPEG
import SidelightKernels

/// Encodes JPEG files through libjpeg-turbo.
struct JPEGEncoder {
  /// 1 ... 100.
  let quality: Int
  let subsampling: JPEGSubsampling

  private static let flags = Int32(TJFLAG_NOREALLOC) | Int32(TJFLAG_ACCURATEDCT)

  func encode(_ frame: Frame) throws(CodecError) -> [UInt8] {
    // What a JPEG stores is YUV of full range by BT.601. A frame that is that already keeps its
    // samples.
    let isStoredForm =
      frame.format.isYUV && frame.color.range == .full && frame.color.matrix == .bt601
    if isStoredForm, self.subsampling == .quarter {
      return try self.encode(EvenPlanes(frame), size: frame.size)
    }
    return try frame.withInterleavedPixels(keepingAlpha: false) { pixels throws(CodecError) in
      try self.encode(pixels, size: frame.size)
    }
  }

  private func encode(
    _ pixels: InterleavedPixels, size: FrameSize
  ) throws(CodecError) -> [UInt8] {
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
    return try unsafe self.write(size: size, sampling: sampling) { handle, file, count in
      unsafe tjCompress2(
        handle, pixels.base, Int32(size.width), Int32(pixels.stride), Int32(size.height),
        Int32(order.rawValue), &file, &count, Int32(sampling.rawValue), Int32(self.quality),
        Self.flags)
    }
  }

  private func encode(_ planes: EvenPlanes, size: FrameSize) throws(CodecError) -> [UInt8] {
    let strides = planes.strides.map(Int32.init)
    return try unsafe self.write(size: size, sampling: TJSAMP_420) { handle, file, count in
      unsafe planes.bytes.withUnsafeBufferPointer { bytes in
        var starts: [UnsafePointer<UInt8>?] = unsafe planes.offsets.map { offset in
          unsafe bytes.baseAddress.map { unsafe $0 + offset }
        }
        return unsafe tjCompressFromYUVPlanes(
          handle, &starts, Int32(size.width), strides, Int32(size.height),
          Int32(TJSAMP_420.rawValue), &file, &count, Int32(self.quality), Self.flags)
      }
    }
  }

  /// Gives the library room for the largest file of the size.
  private func write(
    size: FrameSize, sampling: TJSAMP,
    _ compress: (
      _ handle: tjhandle, _ file: inout UnsafeMutablePointer<UInt8>?, _ count: inout UInt
    ) -> Int32
  ) throws(CodecError) -> [UInt8] {
    let library = try JPEGLibrary.encoder()
    let capacity = tjBufSize(Int32(size.width), Int32(size.height), Int32(sampling.rawValue))
    guard capacity != UInt.max else { throw CodecError(.failed, "\(size) is too large for JPEG") }
    var written = false
    let file = unsafe [UInt8](unsafeUninitializedCapacity: Int(capacity)) { bytes, initialized in
      var start = bytes.baseAddress
      var count = capacity
      written = unsafe compress(library.handle, &start, &count) == 0
      initialized = written ? Int(count) : 0
    }
    guard written else { throw CodecError(.failed, library.reason()) }
    return file
  }
}
