import CKernels

/// A writer of rows of 16-bit sums as samples of the output.
@safe
struct RowWriter: Sendable {
  private let shape: PlaneShape
  private let source: RasterView
  private let destination: RasterView
  private let keepsAlpha: Bool
  private let shift: Int

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - context: The pass's inputs and output.
  ///   - fractionBits: The fractional bits of the sums, below a level.
  ///   - keepsAlpha: Whether to copy every fourth sample from the source.
  init(
    _ context: PassContext, _ shape: PlaneShape, fractionBits: Int, keepsAlpha: Bool
  ) {
    self.shape = shape
    self.source = context.inputs[0].view
    self.destination = context.output.view
    self.keepsAlpha = keepsAlpha && shape.step == 4
    self.shift = fractionBits - (context.output.depth == .deep ? 5 : 0)
  }

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

  /// Whether rows of bytes may be written without this writer: source and output have bytes.
  var isDirect: Bool { self.source.depth == .eight && self.destination.depth == .eight }

  /// Calls `body` with a row of the output, and with the source's row if every fourth of its bytes
  /// is kept.
  func writeBytes(
    y: Int, _ body: (_ fourths: UnsafeRawPointer?, _ output: UnsafeMutableRawPointer) -> Void
  ) {
    let input = unsafe UnsafeRawPointer(self.source.row(y, plane: self.shape.plane))
    unsafe body(
      self.keepsAlpha ? input : nil, self.destination.row(y, plane: self.shape.plane))
  }

  /// Copies every fourth sample of a row from the source, if they are kept.
  func copyAlpha(y: Int, _ rows: sl_rows) {
    guard self.keepsAlpha else { return }
    let output = unsafe self.destination.row(y, plane: self.shape.plane)
    let input = unsafe self.source.row(y, plane: self.shape.plane)
    unsafe SampleCopy.copyAlpha(
      input, self.source.depth, output, self.destination.depth, pixels: self.shape.width, rows)
  }
}

/// A writer for passes that keep the depth of their input: into the output if it has that depth,
/// otherwise through scratch memory.
@safe
struct DirectRowWriter: Sendable {
  private let shape: PlaneShape
  private let source: SampleDepth
  private let destination: RasterView
  private let writer: RowWriter

  /// Creates a writer.
  ///
  /// - Parameter keepsAlpha: Whether to copy every fourth sample from the source.
  init(_ context: PassContext, _ shape: PlaneShape, keepsAlpha: Bool) {
    self.shape = shape
    self.source = context.inputs[0].depth
    self.destination = context.output.view
    self.writer = RowWriter(context, shape, fractionBits: 5, keepsAlpha: keepsAlpha)
  }

  /// Writes one row.
  ///
  /// - Parameters:
  ///   - scratch: Room for a row of 16-bit samples.
  ///   - body: Writes the row's samples to the given address.
  func write(
    y: Int, scratch: UnsafeMutablePointer<Int16>, _ rows: sl_rows,
    _ body: (UnsafeMutableRawPointer) -> Void
  ) {
    let output = unsafe self.destination.row(y, plane: self.shape.plane)
    switch (self.source, self.destination.depth) {
    case (.eight, .eight), (.deep, .deep):
      unsafe body(output)
      unsafe self.writer.copyAlpha(y: y, rows)
    case (.eight, .deep):
      unsafe body(UnsafeMutableRawPointer(scratch))
      unsafe rows.widen(scratch, self.shape.samples, output)
      unsafe self.writer.copyAlpha(y: y, rows)
    case (.deep, .eight):
      unsafe body(UnsafeMutableRawPointer(scratch))
      unsafe self.writer.write(scratch, y: y, rows)
    }
  }
}

/// A writer of deep rows with samples that may exceed the range of pictures, such as sharpened
/// rows.
///
/// Alpha is limited to 0 ... 1 and premultiplied colour to -alpha ... 2 alpha. Colour beyond that
/// would become visible when a later filter raises alpha. In a premultiplied frame colour is
/// limited to alpha. Opaque pictures are not limited between passes.
@safe
struct LimitedRowWriter: Sendable {
  private let writer: RowWriter
  private let output: RasterView
  private let shape: PlaneShape
  private let source: RasterView
  private let hasAlpha: Bool
  private let keepsAlpha: Bool
  private let limits: Bool

  /// Creates a writer.
  ///
  /// - Parameter keepsAlpha: Whether to copy alpha from the source.
  init(
    _ context: PassContext, _ shape: PlaneShape, _ setting: PassSetting, keepsAlpha: Bool = false
  ) {
    self.writer = RowWriter(
      context, shape, fractionBits: 5, keepsAlpha: keepsAlpha || setting.keepsFourthChannel)
    self.source = context.inputs[0].view
    self.output = context.output.view
    self.shape = shape
    self.hasAlpha = setting.geometry.format.hasAlpha && !setting.keepsFourthChannel
    self.keepsAlpha = keepsAlpha
    self.limits =
      self.hasAlpha && setting.geometry.color.alpha == .premultiplied
      && context.output.depth == .eight
  }

  /// The writer of rows of bytes without limits; `nil` for formats with alpha, or if source or
  /// output is deep.
  var direct: RowWriter? { self.hasAlpha || !self.writer.isDirect ? nil : self.writer }

  /// Writes one row of deep samples. The row may be modified.
  func write(_ row: UnsafeMutablePointer<Int16>, y: Int, _ rows: sl_rows) {
    guard self.hasAlpha else { return unsafe self.writer.write(row, y: y, rows) }
    if self.keepsAlpha {
      let input = unsafe self.source.row(y, plane: self.shape.plane)
      switch self.source.depth {
      case .eight: unsafe rows.copy_alpha_u8_i16(input, self.shape.width, row)
      case .deep: unsafe rows.copy_alpha_i16(input, self.shape.width, row)
      }
    }
    unsafe rows.clamp_by_alpha_i16(row, self.shape.width)
    unsafe self.writer.write(row, y: y, rows)
    guard self.limits else { return }
    unsafe rows.limit_to_alpha_u8(
      self.output.row(y, plane: self.shape.plane), self.shape.width)
  }
}
