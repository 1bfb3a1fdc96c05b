import CKernels

/// Medians of 3 x 3 samples of each plane.
package struct MedianPass: Pass {
  package let description: PassDescription
  private let keepsFourthChannel: Bool

  init(_ setting: PassSetting) {
    self.description = setting.description
    self.keepsFourthChannel = setting.keepsFourthChannel
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    for shape in PlaneShape.planes(source.format, source.size) {
      let finish = RowFinish(
        context, shape, fractionBits: source.depth == .eight ? 6 : 5,
        keepsAlpha: self.keepsFourthChannel)
      await context.bands.run(
        rows: shape.height, nanoseconds: Double(shape.samples * shape.height) * 0.2
      ) { band in
        let rows = unsafe sl_rows_current().pointee
        let area = unsafe sl_area_rows_current().pointee
        let median = unsafe source.depth == .eight ? area.median_u8 : area.median_i16
        var padded = PaddedRows(source, shape, capacity: 3, margin: 1)
        let memory = SampleMemory(count: shape.samples + 64)
        let result = unsafe memory[0]
        for y in band {
          unsafe median(
            padded.row(y - 1), padded.row(y), padded.row(y + 1), shape.step, shape.samples, result)
          unsafe finish.write(result, y: y, rows)
        }
      }
    }
  }
}
