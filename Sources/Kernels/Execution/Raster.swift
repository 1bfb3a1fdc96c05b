/// The samples that a pass reads or writes: a frame's, or a picture between two passes.
@safe
package struct Raster: Sendable {
  /// Where the samples would lie if they were bytes in a buffer of their own.
  package let layout: FrameLayout
  /// How each sample is stored.
  package let depth: SampleDepth
  private let planes: [PlaneLayout]
  private let buffer: PixelBuffer

  /// The samples of a frame.
  package init(_ frame: Frame) {
    self.layout = frame.layout
    self.depth = .eight
    self.planes = frame.layout.planes
    self.buffer = frame.buffer
  }

  /// Samples to be written into a buffer that nobody else writes.
  package init(layout: FrameLayout, depth: SampleDepth, pool: BufferPool) {
    self.layout = layout
    self.depth = depth
    guard depth == .deep else {
      self.planes = layout.planes
      self.buffer = pool.makeBuffer(byteCount: layout.byteCount)
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
    self.planes = planes
    self.buffer = pool.makeBuffer(byteCount: offset)
  }

  /// The layout of samples.
  package var format: PixelFormat { self.layout.format }
  /// The size in pixels.
  package var size: FrameSize { self.layout.size }

  /// The first byte of a row. What lies there may be written only by the pass whose output this is,
  /// and by one band at a time.
  @inline(__always)
  package func row(_ row: Int, plane: Int = 0) -> UnsafeMutableRawPointer {
    let layout = self.planes[plane]
    return unsafe self.buffer.bytes.baseAddress.unsafelyUnwrapped
      + (layout.offset + row * layout.stride)
  }

  /// Bytes from one row of a plane to the next.
  package func stride(plane: Int) -> Int { self.planes[plane].stride }

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
