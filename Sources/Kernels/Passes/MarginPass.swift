import CKernels

/// Copies each plane into the middle of a larger one that is empty elsewhere.
struct MarginPass: Pass {
  let description: PassDescription
  let operation: MarginOperation
  /// The code values of what is empty, plane by plane and channel by channel.
  let empty: [[Int16]]

  func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    let destination = context.output.view
    let inner = PlaneShape.planes(source.format, source.size)
    let outer = PlaneShape.planes(destination.format, destination.size)
    for (inside, shape) in zip(inner, outer) {
      let left = Int(Double(self.operation.left) * shape.scale)
      let top = Int(Double(self.operation.top) * shape.scale)
      let empty = self.empty[shape.plane]
      await context.bands.run(
        rows: shape.height, nanoseconds: Double(shape.samples * shape.height) * 0.1
      ) { band in
        let rows = unsafe sl_rows_current().pointee
        let memory = SampleMemory(count: shape.samples)
        let line = unsafe memory[0]
        for index in 0 ..< shape.samples {
          unsafe line[index] = empty[index % shape.step] * 32
        }
        let isDeep = destination.depth == .deep
        for y in band {
          let output = unsafe destination.row(y, plane: shape.plane)
          if isDeep {
            unsafe output.copyMemory(from: line, byteCount: shape.samples * 2)
          } else {
            unsafe rows.narrow_u8(line, 5, shape.samples, output)
          }
          guard (top ..< top + inside.height).contains(y) else { continue }
          let input = unsafe source.row(y - top, plane: shape.plane)
          let start = unsafe output + left * shape.step * destination.depth.byteCount
          unsafe Self.copy(input, source.depth, start, destination.depth, inside.samples, rows)
        }
      }
    }
  }

  private static func copy(
    _ input: UnsafeMutableRawPointer, _ from: SampleDepth, _ output: UnsafeMutableRawPointer,
    _ to: SampleDepth, _ count: Int, _ rows: sl_rows
  ) {
    switch (from, to) {
    case (.eight, .eight): unsafe output.copyMemory(from: input, byteCount: count)
    case (.deep, .deep): unsafe output.copyMemory(from: input, byteCount: count * 2)
    case (.eight, .deep): unsafe rows.widen(input, count, output)
    case (.deep, .eight):
      unsafe rows.narrow_u8(input.assumingMemoryBound(to: Int16.self), 5, count, output)
    }
  }
}
