/// The samples that a pass reads or writes: a frame's, or a picture between two passes.
@safe
package struct Raster: Sendable {
  /// Where the samples would lie if they were bytes in a buffer of their own.
  package let layout: FrameLayout
  /// How each sample is stored.
  package let depth: SampleDepth
  /// Where the rows are; valid while the raster lives.
  package let view: RasterView
  private let buffer: PixelBuffer

  /// The samples of a frame.
  package init(_ frame: Frame) {
    self.init(frame.layout, .eight, frame.layout.planes, frame.buffer)
  }

  /// The samples of a frame in the making, for passes to write. The frame's planes may lie anywhere
  /// in a buffer.
  package init(_ frame: borrowing MutableFrame) {
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
    self.view = RasterView(
      buffer, planes, format: layout.format, size: layout.size, depth: depth)
  }

  /// The layout of samples.
  package var format: PixelFormat { self.layout.format }
  /// The size in pixels.
  package var size: FrameSize { self.layout.size }

  /// The first byte of a row. What lies there may be written only by the pass whose output this is,
  /// and by one band at a time.
  @inline(__always)
  package func row(_ row: Int, plane: Int = 0) -> UnsafeMutableRawPointer {
    unsafe self.view.row(row, plane: plane)
  }

  /// The samples as a frame in the making, for a user's function to write.
  ///
  /// - Precondition: The samples are bytes, and nobody else writes them meanwhile.
  package func mutableFrame(color: ColorDescription) -> MutableFrame {
    precondition(self.depth == .eight, "a deep picture is no frame")
    return MutableFrame(
      layout: self.layout, color: color, orientation: .upright, buffer: self.buffer)
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
