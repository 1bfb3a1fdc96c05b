import CKernels

/// Copies a plane from a pass's input to its output, whatever their depths.
struct PlaneCopy {
  /// The plane.
  let shape: PlaneShape

  func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    let destination = context.output.view
    let shape = self.shape
    await context.bands.run(
      rows: shape.height, nanoseconds: Double(shape.samples * shape.height) * 0.1
    ) { band in
      let rows = unsafe sl_rows_current().pointee
      for y in band {
        let input = unsafe source.row(y, plane: shape.plane)
        let output = unsafe destination.row(y, plane: shape.plane)
        switch (source.depth, destination.depth) {
        case (.eight, .eight): unsafe output.copyMemory(from: input, byteCount: shape.samples)
        case (.deep, .deep): unsafe output.copyMemory(from: input, byteCount: shape.samples * 2)
        case (.eight, .deep): unsafe rows.widen(input, shape.samples, output)
        case (.deep, .eight):
          unsafe rows.narrow_u8(
            input.assumingMemoryBound(to: Int16.self), 5, shape.samples, output)
        }
      }
    }
  }
}
