package import Foundation
package import SidelightKernels

extension Frame {
  /// Returns the samples of all planes in order, without padding.
  package func packedBytes() -> Data {
    var bytes = Data(count: self.packedByteCount)
    bytes.withUnsafeMutableBytes { self.copyPacked(into: $0) }
    return bytes
  }

  /// The size of the samples of all planes in bytes, without padding.
  package var packedByteCount: Int {
    (0 ..< self.format.planeCount).reduce(0) { sum, plane in
      sum + self.format.rowByteCount(plane: plane, width: self.size.width)
        * self.format.rowCount(plane: plane, height: self.size.height)
    }
  }

  /// Whether the buffer contains exactly the samples of all planes in order, without padding.
  package var isPacked: Bool {
    self.buffer.byteCount == self.packedByteCount
      && (try? FrameLayout(packed: self.format, size: self.size)) == self.layout
  }

  /// Writes the samples of all planes in order, without padding.
  ///
  /// - Precondition: The buffer has at least ``packedByteCount`` bytes, and other threads don't use
  ///   it.
  package func copyPacked(into buffer: PixelBuffer) {
    self.copyPacked(into: buffer.bytes)
  }

  /// Writes the samples of all planes in order, without padding.
  ///
  /// - Precondition: `bytes` has at least ``packedByteCount`` bytes.
  private func copyPacked(into bytes: UnsafeMutableRawBufferPointer) {
    precondition(bytes.count >= self.packedByteCount, "the buffer is too small for the samples")
    var offset = 0
    for (plane, layout) in self.layout.planes.enumerated() {
      let count = self.format.rowByteCount(plane: plane, width: self.size.width)
      let rows = self.format.rowCount(plane: plane, height: self.size.height)
      let source = UnsafeRawPointer(self.baseAddress(plane: plane))
      if layout.stride == count {
        bytes.baseAddress?.advanced(by: offset)
          .copyMemory(from: source, byteCount: rows * count)
      } else {
        for row in 0 ..< rows {
          bytes.baseAddress?.advanced(by: offset + row * count)
            .copyMemory(from: source + row * layout.stride, byteCount: count)
        }
      }
      offset += rows * count
    }
  }
}

extension PixelBuffer {
  /// Returns a copy in a buffer of a pool. The original may lie in memory that a
  /// peer can still write to.
  package func copy(in pool: BufferPool) -> PixelBuffer {
    let copy = pool.makeBuffer(byteCount: self.byteCount)
    copy.copy(self)
    // The pool rounds sizes up, but the end of a file is the end of its buffer.
    let bytes = UnsafeMutableRawBufferPointer(rebasing: copy.bytes[..<self.byteCount])
    return PixelBuffer(borrowing: bytes) { _ in withExtendedLifetime(copy) {} }
  }
}

extension Frame {
  /// Returns a copy in a buffer of a pool, with aligned strides. The original may lie in memory
  /// that a peer can still write to.
  package func copy(in pool: BufferPool) -> Frame {
    // The size of an existing frame is valid.
    let layout =
      (try? FrameLayout(aligned: self.format, size: self.size)) ?? self.layout
    var copy = pool.makeFrame(layout: layout, color: self.color, orientation: self.orientation)
    copy.copy(self)
    return copy.finish()
  }
}

extension MutableFrame {
  /// Copies the samples of a frame, and possibly its padding.
  ///
  /// - Precondition: Both frames have the same format and size.
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
  /// - Precondition: This buffer is large enough, and other threads don't use it.
  package func copy(_ other: PixelBuffer) {
    precondition(self.byteCount >= other.byteCount, "the buffer is too small for the pixels")
    self.bytes.copyMemory(from: UnsafeRawBufferPointer(other.bytes))
  }

  /// Copies bytes to the beginning of this buffer.
  ///
  /// - Precondition: This buffer is large enough, and other threads don't use it.
  package func copy(_ bytes: [UInt8]) {
    precondition(self.byteCount >= bytes.count, "the buffer is too small for the pixels")
    self.bytes.copyBytes(from: bytes)
  }
}
