package import SidelightKernels

extension PixelBuffer {
  /// The same bytes in a buffer of a pool. They may be written meanwhile; the copy does not change.
  package func copy(in pool: BufferPool) -> PixelBuffer {
    let copy = pool.makeBuffer(byteCount: self.byteCount)
    copy.copy(self)
    // The pool rounds up, and the length says where a file ends.
    let bytes = UnsafeMutableRawBufferPointer(rebasing: copy.bytes[..<self.byteCount])
    return PixelBuffer(borrowing: bytes) { _ in withExtendedLifetime(copy) {} }
  }
}

extension Frame {
  /// The same picture in a buffer of a pool, with aligned strides. It may be written meanwhile; the
  /// copy does not change.
  package func copy(in pool: BufferPool) -> Frame {
    // A frame that exists has a size that frames can have.
    let layout =
      (try? FrameLayout(aligned: self.format, size: self.size)) ?? self.layout
    var copy = pool.makeFrame(layout: layout, color: self.color, orientation: self.orientation)
    copy.copy(self)
    return copy.finish()
  }
}

extension MutableFrame {
  /// Writes another frame's samples here, and maybe its padding.
  ///
  /// - Precondition: Both have one format and size.
  package mutating func copy(_ frame: Frame) {
    precondition(
      frame.format == self.layout.format && frame.size == self.layout.size, "another geometry")
    for (plane, (from, to)) in zip(frame.layout.planes, self.layout.planes).enumerated() {
      let count = frame.format.rowByteCount(plane: plane, width: frame.size.width)
      let rows = frame.format.rowCount(plane: plane, height: frame.size.height)
      let source = UnsafeRawPointer(frame.baseAddress(plane: plane))
      let target = UnsafeMutableRawPointer(self.baseAddress(plane: plane))
      guard from.stride != to.stride else {
        target.copyMemory(from: source, byteCount: (rows - 1) * from.stride + count)
        continue
      }
      for row in 0 ..< rows {
        (target + row * to.stride).copyMemory(from: source + row * from.stride, byteCount: count)
      }
    }
  }
}

extension PixelBuffer {
  /// Copies another buffer's bytes to the beginning of this one.
  ///
  /// - Precondition: There is room for them, and nothing else reads or writes here.
  package func copy(_ other: PixelBuffer) {
    precondition(self.byteCount >= other.byteCount, "there is no room for the pixels")
    self.bytes.copyMemory(from: UnsafeRawBufferPointer(other.bytes))
  }

  /// Copies bytes to the beginning of this buffer.
  ///
  /// - Precondition: There is room for them, and nothing else reads or writes here.
  package func copy(_ bytes: [UInt8]) {
    precondition(self.byteCount >= bytes.count, "there is no room for the pixels")
    self.bytes.copyBytes(from: bytes)
  }
}
