import NIOCore

extension ByteBuffer {
  /// Bytes that will be written later. They are not filled with zeros first: that pass over memory would
  /// cost half of what a copy costs.
  init(unwritten byteCount: Int) {
    self.init()
    self.writeWithUnsafeMutableBytes(minimumWritableBytes: byteCount) { _ in byteCount }
  }

  /// Where its bytes begin. They lie on the heap, and move for no one while they are only read.
  var start: UnsafeMutableRawPointer {
    self.withUnsafeReadableBytes {
      UnsafeMutableRawPointer(mutating: $0.baseAddress.unsafelyUnwrapped)
    }
  }
}
