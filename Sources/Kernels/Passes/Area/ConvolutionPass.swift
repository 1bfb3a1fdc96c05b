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
      let isChroma = shape.scale < 1
      let isWideOdd = isChroma && !source.size.width.isMultiple(of: 2)
      let isHighOdd = isChroma && !source.size.height.isMultiple(of: 2)
      if !isWideOdd, !isHighOdd, source.depth == .eight, let weights = FixedWeights(kernel) {
        let cost = Double(shape.samples * shape.height) * (0.1 + 0.02 * Double(weights.taps.count))
        await context.bands.run(rows: shape.height, nanoseconds: cost) { band in
          Self.run(band, source, shape, weights, finish)
        }
        continue
      }
      let cost = Double(shape.samples * shape.height) * (0.2 + 0.03 * Double(kernel.weights.count))
      func kernels(isLastRow: Bool) -> RowKernels {
        let last = self.operation.kernel(
          shape, of: self.setting.geometry, isLastColumn: isWideOdd, isLastRow: isLastRow)
        return RowKernels(
          inner: self.operation.kernel(shape, of: self.setting.geometry, isLastRow: isLastRow),
          last: isWideOdd ? last : nil)
      }
      let (all, last) = (kernels(isLastRow: false), kernels(isLastRow: isHighOdd))
      await context.bands.run(rows: shape.height, nanoseconds: cost) { band in
        let end = min(band.upperBound, shape.height - 1)
        Self.run(band.lowerBound ..< max(end, band.lowerBound), source, shape, all, finish)
        if band.contains(shape.height - 1) {
          Self.run(shape.height - 1 ..< shape.height, source, shape, last, finish)
        }
      }
    }
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ weights: FixedWeights,
    _ finish: LimitedFinish
  ) {
    let rows = unsafe sl_rows_current().pointee
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
        unsafe rows.convolve_u8(
          UnsafePointer(places.baseAddress.unsafelyUnwrapped), weights.values,
          weights.taps.count, weights.bias, weights.shift, shape.samples, result)
        unsafe finish.write(result, y: y, rows)
      }
    }
  }

  /// The kernels of a row.
  private struct RowKernels {
    let inner: ConvolutionKernel
    /// The kernel of the last pixel, if it is another.
    let last: ConvolutionKernel?
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ kernels: RowKernels,
    _ finish: LimitedFinish
  ) {
    let rows = unsafe sl_rows_current().pointee
    let side = kernels.inner.side
    let reach = side / 2
    var floats = FloatRows(source, shape, capacity: side, margin: reach)
    let memory = SampleMemory(count: shape.samples + 64)
    let result = unsafe memory[0]
    // Weights of zero are left out.
    let lists = [kernels.inner, kernels.last].compactMap(\.self).map { kernel in
      let taps = kernel.weights.indices.filter { kernel.weights[$0] != 0 }
      return (taps: taps, weights: taps.map { Float(kernel.weights[$0]) }, bias: Float(kernel.bias))
    }
    unsafe withUnsafeTemporaryAllocation(
      of: UnsafePointer<Float>.self, capacity: side * side
    ) { places in
      for y in band {
        for (index, list) in lists.enumerated() {
          let start = index == 0 ? 0 : shape.samples - shape.step
          for (index, tap) in list.taps.enumerated() {
            let row = unsafe floats.row(y + tap / side - reach)
            unsafe places.initializeElement(
              at: index, to: row + (tap % side - reach) * shape.step + start)
          }
          unsafe list.weights.withUnsafeBufferPointer { weights in
            // Without taps the address is not used.
            let pointers = unsafe UnsafePointer(places.baseAddress.unsafelyUnwrapped)
            let first = unsafe weights.baseAddress ?? UnsafePointer(floats.row(y))
            unsafe rows.convolve_float(
              pointers, first, list.taps.count, list.bias, shape.samples - start, result + start)
          }
        }
        unsafe finish.write(result, y: y, rows)
      }
    }
  }
}
