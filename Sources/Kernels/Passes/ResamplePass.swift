import CKernels

/// Resamples each plane along rows and columns.
package struct ResamplePass: Pass {
  package let description: PassDescription
  private let keepsFourthChannel: Bool
  private let planes: [PlaneResampler]

  init(description: PassDescription, keepsFourthChannel: Bool, planes: [PlaneResampler]) {
    self.description = description
    self.keepsFourthChannel = keepsFourthChannel
    self.planes = planes
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    let shapes = PlaneShape.planes(context.output.format, context.output.size)
    for (shape, plane) in zip(shapes, self.planes) {
      let finish = RowFinish(
        context, shape, fractionBits: 5, keepsAlpha: self.keepsFourthChannel)
      let read = Double(plane.source.samples * shape.height * plane.vertical.taps)
      let written = Double(shape.samples * shape.height * plane.horizontal.taps)
      await context.bands.run(rows: shape.height, nanoseconds: read * 0.1 + written * 0.5) { band in
        unsafe plane.run(band, from: source) { y, samples in
          unsafe finish.write(samples, y: y, sl_rows_current().pointee)
        }
      }
    }
  }
}
