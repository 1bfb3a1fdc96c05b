package import Foundation
package import SidelightKernels

extension Frame {
  /// The samples of all planes in order, without padding.
  package func packedBytes() -> Data {
    var bytes = Data(count: self.packedByteCount)
    bytes.withUnsafeMutableBytes { self.copyPacked(into: $0) }
    return bytes
  }

  /// The bytes of all planes, without padding.
  package var packedByteCount: Int {
    (0 ..< self.format.planeCount).reduce(0) { sum, plane in
      sum + self.format.rowByteCount(plane: plane, width: self.size.width)
        * self.format.rowCount(plane: plane, height: self.size.height)
    }
  }

  /// Whether its buffer holds the samples of all planes in order, without padding, and nothing else.
  package var isPacked: Bool {
    self.buffer.byteCount == self.packedByteCount
      && (try? FrameLayout(packed: self.format, size: self.size)) == self.layout
  }

  /// Writes the samples of all planes in order, without padding.
  ///
  /// - Precondition: There is room for ``packedByteCount``, and nobody else reads or writes there.
  package func copyPacked(into buffer: PixelBuffer) {
    self.copyPacked(into: buffer.bytes)
  }

  /// Writes the samples of all planes in order, without padding.
  ///
  /// - Precondition: There is room for ``packedByteCount``.
  private func copyPacked(into bytes: UnsafeMutableRawBufferPointer) {
    precondition(bytes.count >= self.packedByteCount, "there is no room for the samples")
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
