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
      let finish = DirectFinish(context, shape, keepsAlpha: self.keepsFourthChannel)
      await context.bands.run(
        rows: shape.height, nanoseconds: Double(shape.samples * shape.height) * 0.07
      ) { band in
        let rows = unsafe sl_rows_current().pointee
        let median = unsafe source.depth == .eight ? rows.median_u8 : rows.median_i16
        let memory = SampleMemory(count: shape.samples)
        func row(_ y: Int) -> UnsafeMutableRawPointer {
          unsafe source.row(min(max(y, 0), shape.height - 1), plane: shape.plane)
        }
        for y in band {
          unsafe finish.write(y: y, scratch: memory[0], rows) { output in
            unsafe median(row(y - 1), row(y), row(y + 1), shape.step, shape.width, output)
          }
        }
      }
    }
  }
}
