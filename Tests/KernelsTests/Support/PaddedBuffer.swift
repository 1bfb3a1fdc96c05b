import SidelightKernels

/// Memory of the tests' own, in which frames lie where a test wants them.
@safe
struct PaddedBuffer {
  /// The memory; freed with the last frame that lies in it.
  let buffer: PixelBuffer
  /// The value of bytes that were never written.
  static let untouched: UInt8 = 0xa5

  init(byteCount: Int) {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 64)
    for index in bytes.indices { unsafe bytes[index] = Self.untouched }
    self.buffer = unsafe PixelBuffer(borrowing: bytes) { unsafe $0.deallocate() }
  }

  /// Memory that holds a copy of a frame, and the copy.
  static func holding(_ frame: Frame, spare: Int = 0) -> (slab: PaddedBuffer, frame: Frame) {
    let slab = PaddedBuffer(byteCount: frame.layout.byteCount + spare)
    return (slab, frame.copied(to: slab.buffer, layout: frame.layout))
  }

  /// The bytes that belong to no sample of any of the layouts and are no longer as they were.
  func touchedBytes(outside layouts: [FrameLayout]) -> Int {
    var isSample = [Bool](repeating: false, count: self.buffer.byteCount)
    for layout in layouts {
      for shape in PlaneShape.planes(layout.format, layout.size) {
        for y in 0 ..< shape.height {
          let start = layout.planes[shape.plane].offset + y * layout.planes[shape.plane].stride
          for index in start ..< start + shape.samples { isSample[index] = true }
        }
      }
    }
    return isSample.indices.count {
      unsafe !isSample[$0] && self.buffer.bytes[$0] != Self.untouched
    }
  }
}
