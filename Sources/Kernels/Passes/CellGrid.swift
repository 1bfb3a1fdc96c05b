/// A reduced plane: cells of 16-bit samples with a margin all round.
@safe
struct CellGrid: Sendable {
  /// Cells without the margin.
  let size: FrameSize
  /// Samples from cell to cell.
  let step: Int
  /// Cells of margin on each side.
  let margin: Int
  private let buffer: PixelBuffer

  init(_ size: FrameSize, step: Int, margin: Int, pool: BufferPool) {
    self.size = size
    self.step = step
    self.margin = margin
    self.buffer = pool.makeBuffer(
      byteCount: (size.width + 2 * margin) * (size.height + 2 * margin) * step * 2)
  }

  /// Rows with the margin.
  var rowCount: Int { self.size.height + 2 * self.margin }
  /// Samples a row with the margin.
  var rowSamples: Int { (self.size.width + 2 * self.margin) * self.step }

  /// The start of a row, margin included; rows count from the margin's first.
  func row(_ row: Int) -> UnsafeMutablePointer<Int16> {
    unsafe self.buffer.bytes.baseAddress.unsafelyUnwrapped
      .assumingMemoryBound(to: Int16.self) + row * self.rowSamples
  }

  /// The first cell of a row, behind the margin; rows count from the margin's first.
  func cell(row: Int) -> UnsafeMutablePointer<Int16> {
    unsafe self.row(row) + self.margin * self.step
  }

  /// Sets one channel of the margin's cells at both ends of a row.
  func fillMargin(row: Int, channel: Int, left: Int16, right: Int16) {
    let start = unsafe self.row(row) + channel
    for cell in 0 ..< self.margin {
      unsafe start[cell * self.step] = left
      unsafe start[(self.margin + self.size.width + cell) * self.step] = right
    }
  }

  /// Calls `body` with a pointer to each row of a range.
  func withRows<Result>(
    _ range: ClosedRange<Int>, _ body: (UnsafePointer<UnsafeRawPointer>) -> Result
  ) -> Result {
    unsafe withUnsafeTemporaryAllocation(of: UnsafeRawPointer.self, capacity: range.count) {
      pointers in
      for (index, row) in range.enumerated() {
        unsafe pointers.initializeElement(at: index, to: UnsafeRawPointer(self.row(row)))
      }
      return unsafe body(UnsafePointer(pointers.baseAddress.unsafelyUnwrapped))
    }
  }
}
