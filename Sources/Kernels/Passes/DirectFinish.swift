import CKernels

/// Has rows written where they belong by work whose results are stored as its input is: into the
/// output itself where that is stored so too, else by way of scratch memory.
@safe
struct DirectFinish: Sendable {
  private let shape: PlaneShape
  private let source: SampleDepth
  private let destination: RasterView
  private let finish: RowFinish

  /// - Parameter keepsAlpha: Whether every fourth sample is the source's.
  init(_ context: PassContext, _ shape: PlaneShape, keepsAlpha: Bool) {
    self.shape = shape
    self.source = context.inputs[0].depth
    self.destination = context.output.view
    self.finish = RowFinish(context, shape, fractionBits: 5, keepsAlpha: keepsAlpha)
  }

  /// Writes one row.
  ///
  /// - Parameters:
  ///   - scratch: Room for a row of 16-bit samples.
  ///   - body: Writes the row's samples to where it is told.
  func write(
    y: Int, scratch: UnsafeMutablePointer<Int16>, _ rows: sl_rows,
    _ body: (UnsafeMutableRawPointer) -> Void
  ) {
    let output = unsafe self.destination.row(y, plane: self.shape.plane)
    switch (self.source, self.destination.depth) {
    case (.eight, .eight), (.deep, .deep):
      unsafe body(output)
      unsafe self.finish.copyAlpha(y: y, rows)
    case (.eight, .deep):
      unsafe body(UnsafeMutableRawPointer(scratch))
      unsafe rows.widen(scratch, self.shape.samples, output)
      unsafe self.finish.copyAlpha(y: y, rows)
    case (.deep, .eight):
      unsafe body(UnsafeMutableRawPointer(scratch))
      unsafe self.finish.write(scratch, y: y, rows)
    }
  }
}
