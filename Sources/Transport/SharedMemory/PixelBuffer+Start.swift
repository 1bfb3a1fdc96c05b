import SidelightKernels

extension PixelBuffer {
  /// Where the bytes are, to tell whose they are.
  var start: UnsafeRawPointer? { UnsafeRawPointer(self.bytes.baseAddress) }
}
