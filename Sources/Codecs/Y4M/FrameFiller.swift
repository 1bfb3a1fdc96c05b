import SidelightKernels

/// Fills a frame with samples that come without padding, in pieces of any length.
struct FrameFiller: ~Copyable {
  private var frame: MutableFrame
  private var plane = 0
  private var row = 0
  private var column = 0

  init(_ frame: consuming MutableFrame) {
    self.frame = frame
  }

  /// Writes the next samples. What is more than the frame can take is ignored.
  mutating func append(_ samples: RawSpan) {
    let layout = self.frame.layout
    var offset = 0
    while offset < samples.byteCount, self.plane < layout.planes.count {
      let rowLength = layout.format.rowByteCount(plane: self.plane, width: layout.size.width)
      let count = min(rowLength - self.column, samples.byteCount - offset)
      let column = self.column
      self.frame.withMutableRow(self.row, plane: self.plane) { bytes in
        unsafe bytes.withUnsafeMutableBytes { target in
          unsafe samples.withUnsafeBytes { source in
            unsafe target.baseAddress.unsafelyUnwrapped.advanced(by: column).copyMemory(
              from: source.baseAddress.unsafelyUnwrapped.advanced(by: offset), byteCount: count)
          }
        }
      }
      offset += count
      self.column += count
      if self.column == rowLength { self.startRow() }
    }
  }

  /// Ends the filling.
  consuming func finish() -> Frame {
    self.frame.finish()
  }

  private mutating func startRow() {
    let layout = self.frame.layout
    self.column = 0
    self.row += 1
    if self.row == layout.format.rowCount(plane: self.plane, height: layout.size.height) {
      self.row = 0
      self.plane += 1
    }
  }
}
