import CKernels

/// Writes rows of 16-bit sums as samples of the output.
@safe
struct RowFinish: Sendable {
  private let shape: PlaneShape
  private let source: RasterView
  private let destination: RasterView
  private let keepsAlpha: Bool
  private let shift: Int

  /// - Parameters:
  ///   - fractionBits: How many bits of the sums lie below a level.
  ///   - keepsAlpha: Whether every fourth sample is the source's.
  init(
    _ context: PassContext, _ shape: PlaneShape, fractionBits: Int, keepsAlpha: Bool
  ) {
    self.shape = shape
    self.source = context.inputs[0].view
    self.destination = context.output.view
    self.keepsAlpha = keepsAlpha && shape.step == 4
    self.shift = fractionBits - (context.output.depth == .deep ? 5 : 0)
  }

  /// Writes one row.
  func write(_ sums: UnsafePointer<Int16>, y: Int, _ rows: sl_rows) {
    let output = unsafe self.destination.row(y, plane: self.shape.plane)
    if self.keepsAlpha, self.source.depth == .eight, self.destination.depth == .eight {
      return unsafe rows.narrow_colors(
        sums, self.shift, self.source.row(y, plane: self.shape.plane), self.shape.width, output)
    }
    switch self.destination.depth {
    case .eight: unsafe rows.narrow_u8(sums, self.shift, self.shape.samples, output)
    case .deep: unsafe rows.narrow_i16(sums, self.shift, self.shape.samples, output)
    }
    unsafe self.copyAlpha(y: y, rows)
  }

  /// Writes the source's fourth samples to a row, if they are to be kept.
  func copyAlpha(y: Int, _ rows: sl_rows) {
    guard self.keepsAlpha else { return }
    let output = unsafe self.destination.row(y, plane: self.shape.plane)
    let input = unsafe self.source.row(y, plane: self.shape.plane)
    switch (self.source.depth, self.destination.depth) {
    case (.eight, .eight): unsafe rows.copy_alpha_u8(input, self.shape.width, output)
    case (.deep, .deep): unsafe rows.copy_alpha_i16(input, self.shape.width, output)
    case (.eight, .deep): unsafe rows.copy_alpha_u8_i16(input, self.shape.width, output)
    case (.deep, .eight): unsafe rows.copy_alpha_i16_u8(input, self.shape.width, output)
    }
  }
}
