package import Foundation
package import SidelightKernels

extension Frame {
  /// The samples of all planes in order, without padding.
  package func packedBytes() -> Data {
    let format = self.format
    var bytes = Data(capacity: self.layout.byteCount)
    for plane in 0 ..< format.planeCount {
      for row in 0 ..< format.rowCount(plane: plane, height: self.size.height) {
        self.withRow(row, plane: plane) { span in
          span.withUnsafeBytes { bytes.append(contentsOf: $0) }
        }
      }
    }
    return bytes
  }
}

extension MutableFrame {
  /// - Precondition: `bytes` is exactly one row of the plane.
  mutating func copyRow(_ row: Int, plane: Int, from bytes: UnsafeRawBufferPointer) {
    self.withMutableRow(row, plane: plane) { span in
      span.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
    }
  }
}
