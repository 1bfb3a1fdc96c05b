import SidelightClient

/// The picture of all frames of a load.
enum Picture {
  /// Creates a gradient with a little noise, because flat pictures favour compression; rows don't
  /// have padding, as on the wire.
  static func make(_ geometry: FrameGeometry, pool: BufferPool) throws -> Frame {
    var noise: UInt32 = 1
    var frame = pool.makeFrame(
      layout: try FrameLayout(packed: geometry.format, size: geometry.size), color: geometry.color)
    for plane in 0 ..< geometry.format.planeCount {
      for y in 0 ..< geometry.format.rowCount(plane: plane, height: geometry.size.height) {
        frame.withMutableRow(y, plane: plane) { row in
          row.withUnsafeMutableBytes { bytes in
            for x in bytes.indices {
              noise = noise &* 1_664_525 &+ 1_013_904_223
              let slope = 16 + (x + y) * 180 / (bytes.count + geometry.size.height)
              bytes[x] = UInt8(clamping: slope + Int(noise >> 29))
            }
          }
        }
      }
    }
    return frame.finish()
  }

  /// Writes a picture into a frame of the same geometry.
  static func copy(_ picture: Frame, into frame: inout MutableFrame) {
    for plane in 0 ..< picture.format.planeCount {
      for y in 0 ..< picture.format.rowCount(plane: plane, height: picture.size.height) {
        frame.withMutableRow(y, plane: plane) { target in
          picture.withRow(y, plane: plane) { source in
            source.withUnsafeBytes { bytes in
              target.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
            }
          }
        }
      }
    }
  }

  /// Returns the samples of all planes in order.
  static func bytes(_ frame: Frame) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(frame.layout.byteCount)
    for plane in 0 ..< frame.format.planeCount {
      for y in 0 ..< frame.format.rowCount(plane: plane, height: frame.size.height) {
        frame.withRow(y, plane: plane) { row in
          row.withUnsafeBytes { result.append(contentsOf: $0) }
        }
      }
    }
    return result
  }
}
