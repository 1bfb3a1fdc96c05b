import CKernels

/// Convolutions of each plane with any weights: of bytes in integers if the weights allow it, else
/// in floats. Weights of zero cost nothing.
package struct ConvolutionPass: Pass {
  package let description: PassDescription
  private let operation: ConvolutionOperation
  private let setting: PassSetting

  init(_ setting: PassSetting, _ operation: ConvolutionOperation) {
    self.description = setting.description
    self.setting = setting
    self.operation = operation
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    for shape in PlaneShape.planes(source.format, source.size) {
      let kernel = self.operation.kernel(shape, of: self.setting.geometry)
      let finish = LimitedFinish(
        context, shape, self.setting, keepsAlpha: self.operation.keepsAlpha)
      if source.depth == .eight, let weights = FixedWeights(kernel) {
        let cost = Double(shape.samples * shape.height) * (0.1 + 0.02 * Double(weights.taps.count))
        await context.bands.run(rows: shape.height, nanoseconds: cost) { band in
          Self.run(band, source, shape, weights, finish)
        }
        continue
      }
      let cost = Double(shape.samples * shape.height) * (0.2 + 0.03 * Double(kernel.weights.count))
      await context.bands.run(rows: shape.height, nanoseconds: cost) { band in
        Self.run(band, source, shape, kernel, finish)
      }
    }
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ weights: FixedWeights,
    _ finish: LimitedFinish
  ) {
    let rows = unsafe sl_rows_current().pointee
    let area = unsafe sl_area_rows_current().pointee
    let reach = weights.side / 2
    var padded = PaddedRows(source, shape, capacity: weights.side, margin: reach)
    let memory = SampleMemory(count: shape.samples + 64)
    let result = unsafe memory[0]
    unsafe withUnsafeTemporaryAllocation(
      of: UnsafeRawPointer.self, capacity: max(1, weights.taps.count)
    ) { places in
      for y in band {
        for (index, tap) in weights.taps.enumerated() {
          let row = unsafe padded.row(y + tap / weights.side - reach)
          unsafe places.initializeElement(
            at: index, to: row + (tap % weights.side - reach) * shape.step)
        }
        unsafe area.convolve_u8(
          UnsafePointer(places.baseAddress.unsafelyUnwrapped), weights.values,
          weights.taps.count, weights.bias, weights.shift, shape.samples, result)
        unsafe finish.write(result, y: y, rows)
      }
    }
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ kernel: ConvolutionKernel,
    _ finish: LimitedFinish
  ) {
    let rows = unsafe sl_rows_current().pointee
    let area = unsafe sl_area_rows_current().pointee
    let reach = kernel.side / 2
    // Weights of zero are left out.
    let taps = kernel.weights.indices.filter { kernel.weights[$0] != 0 }
    let weights = taps.map { Float(kernel.weights[$0]) }
    var floats = FloatRows(source, shape, capacity: kernel.side, margin: reach)
    let memory = SampleMemory(count: shape.samples + 64)
    let result = unsafe memory[0]
    unsafe withUnsafeTemporaryAllocation(
      of: UnsafePointer<Float>.self, capacity: max(1, taps.count)
    ) { places in
      for y in band {
        for (index, tap) in taps.enumerated() {
          let row = unsafe floats.row(y + tap / kernel.side - reach)
          unsafe places.initializeElement(
            at: index, to: row + (tap % kernel.side - reach) * shape.step)
        }
        unsafe weights.withUnsafeBufferPointer { weights in
          // Without taps the address is not used.
          let list = unsafe UnsafePointer(places.baseAddress.unsafelyUnwrapped)
          let first = unsafe weights.baseAddress ?? UnsafePointer(floats.row(y))
          unsafe area.convolve(
            list, first, taps.count, Float(kernel.bias), shape.samples, result)
        }
        unsafe finish.write(result, y: y, rows)
      }
    }
  }
}
