import CKernels

/// Writes parts of rows of the output: from sums, or as the input has them.
@safe
struct SegmentWriter: Sendable {
  private let source: RasterView
  private let destination: RasterView
  private let shape: PlaneShape
  private let keepsAlpha: Bool

  /// - Parameter keepsAlpha: Whether every fourth sample is the source's.
  init(_ context: PassContext, _ shape: PlaneShape, keepsAlpha: Bool) {
    self.source = context.inputs[0].view
    self.destination = context.output.view
    self.shape = shape
    self.keepsAlpha = keepsAlpha && shape.step == 4
  }

  /// Writes pixels from sums: 1/64 level if the input is bytes, 1/32 if it is deep.
  func write(_ sums: UnsafePointer<Int16>, x: Int, y: Int, count: Int, _ rows: sl_rows) {
    let samples = count * self.shape.step
    let (input, output) = unsafe self.pointers(x, y)
    let bits = self.source.depth == .eight ? 6 : 5
    if self.source.depth == .eight, self.destination.depth == .eight, self.keepsAlpha {
      return unsafe rows.narrow_colors(sums, bits, input, count, output)
    }
    switch self.destination.depth {
    case .eight: unsafe rows.narrow_u8(sums, bits, samples, output)
    case .deep: unsafe rows.narrow_i16(sums, bits - 5, samples, output)
    }
    guard self.keepsAlpha else { return }
    switch (self.source.depth, self.destination.depth) {
    case (.eight, .eight): unsafe rows.copy_alpha_u8(input, count, output)
    case (.deep, .deep): unsafe rows.copy_alpha_i16(input, count, output)
    case (.eight, .deep): unsafe rows.copy_alpha_u8_i16(input, count, output)
    case (.deep, .eight): unsafe rows.copy_alpha_i16_u8(input, count, output)
    }
  }

  /// Has the memory of a part of a row fetched that is written a few rows later.
  func fetch(x: Int, y: Int, count: Int) {
    let rows = unsafe sl_rows_current().pointee
    let (input, output) = unsafe self.pointers(x, min(y + 4, self.shape.height - 1))
    unsafe rows.prefetch_row(input, output, count * self.shape.step)
  }

  /// Writes the input's pixels.
  func copy(x: Int, y: Int, count: Int, _ rows: sl_rows) {
    let samples = count * self.shape.step
    let (input, output) = unsafe self.pointers(x, y)
    switch (self.source.depth, self.destination.depth) {
    case (.eight, .eight): unsafe output.copyMemory(from: input, byteCount: samples)
    case (.deep, .deep): unsafe output.copyMemory(from: input, byteCount: samples * 2)
    case (.eight, .deep): unsafe rows.widen(input, samples, output)
    case (.deep, .eight):
      unsafe rows.narrow_u8(input.assumingMemoryBound(to: Int16.self), 5, samples, output)
    }
  }

  private func pointers(
    _ x: Int, _ y: Int
  ) -> (input: UnsafeMutableRawPointer, output: UnsafeMutableRawPointer) {
    let sample = x * self.shape.step
    return unsafe (
      self.source.row(y, plane: self.shape.plane) + sample * self.source.depth.byteCount,
      self.destination.row(y, plane: self.shape.plane) + sample * self.destination.depth.byteCount
    )
  }
}
