import CKernels

/// Turns and mirrors each plane.
package struct OrientPass: Pass {
  package let description: PassDescription
  private let operation: OrientOperation
  private let keepsFourthChannel: Bool

  init(description: PassDescription, operation: OrientOperation, keepsFourthChannel: Bool) {
    self.description = description
    self.operation = operation
    self.keepsFourthChannel = keepsFourthChannel
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    let inputs = PlaneShape.planes(source.format, source.size)
    let outputs = PlaneShape.planes(context.output.format, context.output.size)
    for (input, output) in zip(inputs, outputs) {
      let finish = RowFinish(
        context, output, fractionBits: 5, keepsAlpha: self.keepsFourthChannel)
      let cost = Double(output.samples * output.height) * 0.7
      await context.bands.run(rows: output.height, nanoseconds: cost) { band in
        self.run(band, source, input, output, finish)
      }
    }
  }

  private func run(
    _ band: Range<Int>, _ source: RasterView, _ input: PlaneShape, _ output: PlaneShape,
    _ finish: RowFinish
  ) {
    let rows = unsafe sl_rows_current().pointee
    let gather = unsafe source.depth == .eight ? rows.gather_u8 : rows.gather_i16
    let pixel = input.step * source.depth.byteCount
    let memory = SampleMemory(count: output.samples)
    for y in band {
      let first = self.place(0, y, input)
      // A row of the result is a straight walk through the source.
      let second = self.place(1, y, input)
      let stride =
        (second.y - first.y) * source.stride(plane: input.plane) + (second.x - first.x) * pixel
      unsafe gather(
        source.row(first.y, plane: input.plane) + first.x * pixel, stride, input.step,
        output.width, memory[0])
      unsafe finish.write(memory[0], y: y, rows)
    }
  }

  private func place(_ x: Int, _ y: Int, _ input: PlaneShape) -> (x: Int, y: Int) {
    self.operation.source(x: x, y: y, width: input.width, height: input.height)
  }
}
