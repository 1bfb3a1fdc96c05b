package import SidelightKernels

// Estimates of the memory of libraries, for quotas: upper bounds of the resident memory that was
// measured at 640x360 and 1280x720, and of the references that a stream may have.

extension VideoDecoder {
  /// An estimate of a decoder's memory in bytes.
  package static func memoryByteCount(_ codec: VideoCodec, of size: FrameSize) -> Int {
    let bytesPerPixel =
      switch codec {
      case .h264: 32
      case .vp8: 8
      case .vp9: 20
      case .av1: 24
      }
    return 1_000_000 + bytesPerPixel * size.pixelCount
  }
}

extension VideoEncoderSettings {
  /// An estimate of an encoder's memory in bytes.
  package var memoryByteCount: Int {
    let bytesPerPixel =
      switch self.codec {
      case .h264: 16
      case .vp8: 36
      case .vp9, .av1: 90
      }
    return 1_000_000 + bytesPerPixel * self.size.pixelCount
  }
}
