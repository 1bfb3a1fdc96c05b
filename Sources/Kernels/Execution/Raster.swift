/// The samples that a pass reads or writes: a frame's, or a picture between two passes.
@safe
package struct Raster: @unchecked Sendable {  // a pass writes only its own output
  /// Where the samples would lie if they were bytes in a buffer of their own.
  package let layout: FrameLayout
  /// How each sample is stored.
  package let depth: SampleDepth
  private let buffer: PixelBuffer
  // Addresses and strides are kept in line: rows are asked for by many threads at once, and an array
  // or an object on that path would have them all fight for its reference count.
  private let bases:
    (UnsafeMutableRawPointer, UnsafeMutableRawPointer, UnsafeMutableRawPointer)
  private let strides: (Int, Int, Int)

  /// The samples of a frame.
  package init(_ frame: Frame) {
    self.init(frame.layout, .eight, frame.layout.planes, frame.buffer)
  }

  /// Samples to be written into a buffer that nobody else writes.
  package init(layout: FrameLayout, depth: SampleDepth, pool: BufferPool) {
    guard depth == .deep else {
      let buffer = pool.makeBuffer(byteCount: layout.byteCount)
      self.init(layout, depth, layout.planes, buffer)
      return
    }
    // Doubled strides may become multiples of 4096, which vertical passes suffer from.
    var planes: [PlaneLayout] = []
    var offset = 0
    for (index, plane) in layout.planes.enumerated() {
      var stride = plane.stride * depth.byteCount
      if stride.isMultiple(of: 4096) { stride += 64 }
      planes.append(PlaneLayout(offset: offset, stride: stride))
      offset += stride * layout.format.rowCount(plane: index, height: layout.size.height)
    }
    self.init(layout, depth, planes, pool.makeBuffer(byteCount: offset))
  }

  private init(
    _ layout: FrameLayout, _ depth: SampleDepth, _ planes: [PlaneLayout], _ buffer: PixelBuffer
  ) {
    self.layout = layout
    self.depth = depth
    self.buffer = buffer
    let start = unsafe buffer.bytes.baseAddress.unsafelyUnwrapped
    // For a plane that the format does not have, its last stands in.
    let all = (0 ..< 3).map { planes[min($0, planes.count - 1)] }
    unsafe self.bases = (start + all[0].offset, start + all[1].offset, start + all[2].offset)
    self.strides = (all[0].stride, all[1].stride, all[2].stride)
  }

  /// The layout of samples.
  package var format: PixelFormat { self.layout.format }
  /// The size in pixels.
  package var size: FrameSize { self.layout.size }

  /// The first byte of a row. What lies there may be written only by the pass whose output this is,
  /// and by one band at a time.
  @inline(__always)
  package func row(_ row: Int, plane: Int = 0) -> UnsafeMutableRawPointer {
    switch plane {
    case 0: unsafe self.bases.0 + row * self.strides.0
    case 1: unsafe self.bases.1 + row * self.strides.1
    default: unsafe self.bases.2 + row * self.strides.2
    }
  }

  /// The samples as a frame.
  ///
  /// - Precondition: The samples are bytes.
  package func frame(
    color: ColorDescription, orientation: Orientation
  ) -> Frame {
    precondition(self.depth == .eight, "a deep picture is no frame")
    return Frame(layout: self.layout, color: color, orientation: orientation, buffer: self.buffer)
  }
}
