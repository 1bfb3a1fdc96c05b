import CKernels

/// Convolution of every plane with any weights: from bytes to bytes in 16 bits if ``SmallWeights``
/// accepts the weights, of bytes in 32 bits if ``FixedWeights`` does, otherwise in floats. Zero
/// weights are skipped.
package struct ConvolutionPass: OperationPass {
  package let setting: PassSetting
  let operation: ConvolutionOperation

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    for shape in PlaneShape.planes(source.format, source.size) {
      let kernel = self.operation.kernel(shape, of: self.setting.geometry)
      let writer = LimitedRowWriter(
        context, shape, self.setting, keepsAlpha: self.operation.keepsAlpha)
      let isChroma = shape.scale < 1
      let isWideOdd = isChroma && !source.size.width.isMultiple(of: 2)
      let isHighOdd = isChroma && !source.size.height.isMultiple(of: 2)
      if !isWideOdd, !isHighOdd, let direct = writer.direct, let weights = SmallWeights(kernel) {
        let cost = Double(shape.samples * shape.height) * (0.05 + 0.01 * Double(weights.taps.count))
        await context.bands.run(rows: shape.height, nanoseconds: cost) { band in
          Self.run(band, source, shape, weights, direct)
        }
        continue
      }
      if !isWideOdd, !isHighOdd, source.depth == .eight, let weights = FixedWeights(kernel) {
        let cost = Double(shape.samples * shape.height) * (0.1 + 0.02 * Double(weights.taps.count))
        await context.bands.run(rows: shape.height, nanoseconds: cost) { band in
          Self.run(band, source, shape, weights, writer)
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
        Self.run(band.lowerBound ..< max(end, band.lowerBound), source, shape, all, writer)
        if band.contains(shape.height - 1) {
          Self.run(shape.height - 1 ..< shape.height, source, shape, last, writer)
        }
      }
    }
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ weights: SmallWeights,
    _ writer: RowWriter
  ) {
    let rows = unsafe sl_rows_current().pointee
    unsafe Self.forEachRow(band, source, shape, side: weights.side, weights.taps) { y, inputs in
      unsafe writer.writeBytes(y: y) { fourths, output in
        unsafe rows.convolve_bytes(
          inputs, weights.values, weights.taps.count, weights.bias, weights.shift, fourths,
          shape.samples, output)
      }
    }
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ weights: FixedWeights,
    _ writer: LimitedRowWriter
  ) {
    let rows = unsafe sl_rows_current().pointee
    let memory = SampleMemory(count: shape.samples + 64)
    let result = unsafe memory[0]
    unsafe Self.forEachRow(band, source, shape, side: weights.side, weights.taps) { y, inputs in
      unsafe rows.convolve_u8(
        inputs, weights.values, weights.taps.count, weights.bias, weights.shift, shape.samples,
        result)
      unsafe writer.write(result, y: y, rows)
    }
  }

  /// Calls `body` for every row of a band with the first sample per tap.
  private static func forEachRow(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, side: Int, _ taps: [Int],
    _ body: (_ y: Int, _ inputs: UnsafePointer<UnsafeRawPointer>) -> Void
  ) {
    let reach = side / 2
    var padded = PaddedRows(source, shape, capacity: side, margin: reach)
    unsafe withUnsafeTemporaryAllocation(
      of: UnsafeRawPointer.self, capacity: max(1, taps.count)
    ) { inputs in
      for y in band {
        for (index, tap) in taps.enumerated() {
          let row = unsafe padded.row(y + tap / side - reach)
          unsafe inputs.initializeElement(
            at: index, to: row + (tap % side - reach) * shape.step)
        }
        unsafe body(y, UnsafePointer(inputs.baseAddress.unsafelyUnwrapped))
      }
    }
  }

  private struct RowKernels {
    let inner: ConvolutionKernel
    /// The kernel of the last pixel, if it differs.
    let last: ConvolutionKernel?
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ kernels: RowKernels,
    _ writer: LimitedRowWriter
  ) {
    let rows = unsafe sl_rows_current().pointee
    let side = kernels.inner.side
    let reach = side / 2
    var floats = FloatRows(source, shape, capacity: side, margin: reach)
    let memory = SampleMemory(count: shape.samples + 64)
    let result = unsafe memory[0]
    // Zero weights are skipped.
    let lists = [kernels.inner, kernels.last].compactMap(\.self).map { kernel in
      let taps = kernel.weights.indices.filter { kernel.weights[$0] != 0 }
      return (taps: taps, weights: taps.map { Float(kernel.weights[$0]) }, bias: Float(kernel.bias))
    }
    unsafe withUnsafeTemporaryAllocation(
      of: UnsafePointer<Float>.self, capacity: side * side
    ) { tapPointers in
      for y in band {
        for (index, list) in lists.enumerated() {
          let start = index == 0 ? 0 : shape.samples - shape.step
          for (index, tap) in list.taps.enumerated() {
            let row = unsafe floats.row(y + tap / side - reach)
            unsafe tapPointers.initializeElement(
              at: index, to: row + (tap % side - reach) * shape.step + start)
          }
          unsafe list.weights.withUnsafeBufferPointer { weights in
            // The address is unused without taps.
            let pointers = unsafe UnsafePointer(tapPointers.baseAddress.unsafelyUnwrapped)
            let first = unsafe weights.baseAddress ?? UnsafePointer(floats.row(y))
            unsafe rows.convolve_float(
              pointers, first, list.taps.count, list.bias, shape.samples - start, result + start)
          }
        }
        unsafe writer.write(result, y: y, rows)
      }
    }
  }
}

/// The weights of a convolution of bytes with products and sums that fit 16 bits, without rounding.
struct SmallWeights: Sendable {
  /// The width of the square of weights.
  let side: Int
  /// The positions in the square with nonzero weights, like the taps of ``FixedWeights``.
  let taps: [Int]
  /// The weights of the taps.
  let values: [Int8]
  /// The added constant, in the unit of the weights.
  let bias: Int16
  /// The right shift of sums to levels, in bits.
  let shift: Int

  /// Converts a kernel.
  ///
  /// - Returns: `nil` unless the weights and the constant are multiples of a power of two, not less
  ///   than 1/32, and small enough.
  init?(_ kernel: ConvolutionKernel) {
    let sum = kernel.weights.reduce(0) { $0 + abs($1) }
    let numbers = kernel.weights + [kernel.bias]
    guard
      sum > 0,
      let shift = (0 ... 5).first(where: { shift in
        numbers.allSatisfy { ($0 * Double(1 << shift)).rounded() == $0 * Double(1 << shift) }
      })
    else { return nil }
    let unit = Double(1 << shift)
    guard sum * unit <= 127, (abs(kernel.bias) + 255 * sum + 0.5) * unit <= 32767 else {
      return nil
    }
    var taps = kernel.weights.indices.filter { kernel.weights[$0] != 0 }
    var values = taps.map { Int8(kernel.weights[$0] * unit) }
    // C rows take taps in pairs; a zero weight completes the last pair.
    if !taps.count.isMultiple(of: 2) {
      taps.append(taps[0])
      values.append(0)
    }
    self.side = kernel.side
    self.taps = taps
    self.values = values
    self.bias = Int16(kernel.bias * unit)
    self.shift = shift
  }
}

/// The weights of a convolution of bytes as 16-bit integers.
struct FixedWeights: Sendable {
  /// The width of the square of weights.
  let side: Int
  /// The positions in the square with nonzero weights, counted row by row from the top left; an
  /// even number.
  let taps: [Int]
  /// The weights of the taps.
  let values: [Int16]
  /// The added constant, in the unit of the weights.
  let bias: Int32
  /// The right shift of sums to deep samples, in bits.
  let shift: Int

  /// Converts a kernel.
  ///
  /// - Returns: `nil` if the rounding of weights could change a sum by more than a quarter of a
  ///   level, or if sums exceed 32 bits.
  init?(_ kernel: ConvolutionKernel) {
    var taps = kernel.weights.indices.filter { kernel.weights[$0] != 0 }
    // C rows take taps in pairs; a zero weight completes the last pair.
    if !taps.count.isMultiple(of: 2) { taps.append(taps[0]) }
    let maxWeight = kernel.weights.reduce(0) { max($0, abs($1)) }
    guard maxWeight < 1024, abs(kernel.bias) < 65536 else { return nil }
    var bits = 14
    while maxWeight * Double(1 << bits) > 32767 { bits -= 1 }
    let unit = Double(1 << bits)
    let isPadding = { (index: Int) in index > 0 && taps[index] <= taps[index - 1] }
    let values = taps.indices.map { index in
      isPadding(index) ? 0 : (kernel.weights[taps[index]] * unit).rounded()
    }
    let roundingError = taps.indices.reduce(0) { sum, index in
      isPadding(index) ? sum : sum + abs(kernel.weights[taps[index]] - values[index] / unit)
    }
    guard bits > 5, roundingError * 255 <= 0.25 else { return nil }
    self.side = kernel.side
    self.taps = taps
    self.values = values.map { Int16($0) }
    self.bias = Int32((kernel.bias * unit).rounded())
    self.shift = bits - 5
  }
}
