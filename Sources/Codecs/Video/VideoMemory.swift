import SidelightKernels

// Estimates of the memory of libraries, for quotas: upper bounds of the resident memory that was
// measured at 640x360 and 1280x720, and of the references that a stream may have.

extension VideoDecoder {
  /// An estimate of the library's memory in bytes; 0 while it has none.
  package var memoryBytes: Int {
    guard let size = self.allocatedSize else { return 0 }
    let bytesPerPixel =
      switch self.codec {
      case .h264: 32
      case .vp8: 8
      case .vp9: 20
      case .av1: 24
      }
    return 1_000_000 + bytesPerPixel * size.pixelCount
  }
}

extension VideoEncoder {
  /// An estimate of the library's memory in bytes.
  package var memoryBytes: Int {
    let bytesPerPixel =
      switch self.settings.codec {
      case .h264: 16
      case .vp8: 36
      case .vp9, .av1: 90
      }
    return 1_000_000 + bytesPerPixel * self.settings.size.pixelCount
  }
}
