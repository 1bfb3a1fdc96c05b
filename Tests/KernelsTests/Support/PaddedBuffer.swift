import SidelightKernels

/// Memory for frames with any layout, which detects writes outside their samples.
@safe
struct PaddedBuffer {
  /// The memory; freed with the last frame that uses it.
  let buffer: PixelBuffer
  /// The value of bytes that were never written.
  static let untouched: UInt8 = 0xa5

  init(byteCount: Int) {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 64)
    for index in bytes.indices { unsafe bytes[index] = Self.untouched }
    self.buffer = unsafe PixelBuffer(borrowing: bytes) { unsafe $0.deallocate() }
  }

  /// Memory that holds a copy of a frame, and the copy.
  static func holding(_ frame: Frame, spare: Int = 0) -> (memory: PaddedBuffer, frame: Frame) {
    let memory = PaddedBuffer(byteCount: frame.layout.byteCount + spare)
    return (memory, frame.copied(to: memory.buffer, layout: frame.layout))
  }

  /// The number of changed bytes that belong to no sample of any of the layouts.
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
