import CKernels

/// A wide Gaussian of one plane, computed on means over squares of `factor` pixels.
///
/// The reduced picture has a margin with the values that clamped edges read: the frame's edge
/// pixels and not the outermost means, which would cause errors of several levels.
///
/// The last sample of chroma along an odd side belongs to one pixel and not to two
/// (``PlaneWeights``). That pixel is a quarter of a sample before the sample's centre, and the
/// result is read there.
struct GaussianPyramid {
  let shape: PlaneShape
  /// The standard deviation in the plane's pixels.
  let sigma: Double
  /// A power of two, at least 2.
  let factor: Int
  let keepsAlpha: Bool

  func run(_ context: PassContext) async {
    let square = Double(self.factor * self.factor)
    let left = self.sigma * self.sigma - (square - 1) / 12 - square / 6
    let weights = SymmetricWeights(sigma: (left / square).squareRoot())
    let cells = FrameSize(
      width: (self.shape.width + self.factor - 1) / self.factor,
      height: (self.shape.height + self.factor - 1) / self.factor)
    let margin = weights.radius + 1
    let means = CellGrid(cells, step: self.shape.step, margin: margin, pool: context.pool)
    let blurred = CellGrid(cells, step: self.shape.step, margin: 1, pool: context.pool)
    await self.reduce(context, to: means)
    await self.blur(means, to: blurred, weights, context)
    await self.expand(blurred, context)
  }

  /// Computes the means over squares, with the margin.
  private func reduce(_ context: PassContext, to means: CellGrid) async {
    let source = context.inputs[0].view
    let shape = self.shape
    let factor = self.factor
    // From bytes in units of 1/64 level, from deep samples in their own unit.
    let unit: Float = source.depth == .eight ? 64 : 1
    let cost = Double(shape.samples * shape.height) * 0.1
    await context.bands.run(rows: means.rowCount, nanoseconds: cost) { band in
      let rows = unsafe sl_rows_current().pointee
      let sumRows = source.depth == .eight ? unsafe rows.sum_rows_u8 : unsafe rows.sum_rows_i16
      let memory = SampleMemory(count: shape.samples * 2)
      let sums = unsafe UnsafeMutableRawPointer(memory[0])
        .bindMemory(to: Int32.self, capacity: shape.samples)
      for row in band {
        let first = (row - means.margin) * factor
        // In the margin all rows are the edge row.
        let isMargin = first < 0 || first >= shape.height
        let height = isMargin ? 1 : factor
        unsafe RowPointers.withRows(source, shape, first ... first + height - 1) {
          unsafe sumRows($0, height, shape.samples, sums)
        }
        unsafe rows.downsample_cells(
          sums, shape.step, shape.width, factor, unit / Float(factor * height), means.size.width,
          means.cell(row: row))
        let scale = unit / Float(height)
        for channel in 0 ..< shape.step {
          let left = unsafe Float(sums[channel]) * scale
          let right = unsafe Float(sums[shape.samples - shape.step + channel]) * scale
          means.fillMargin(
            row: row, channel: channel, left: Int16(left.rounded()),
            right: Int16(right.rounded()))
        }
      }
    }
  }

  /// Applies the remaining Gaussian to the cells and to one cell beyond every edge.
  private func blur(
    _ means: CellGrid, to blurred: CellGrid, _ weights: SymmetricWeights, _ context: PassContext
  ) async {
    let isEightBit: Int32 = context.inputs[0].depth == .eight ? 1 : 0
    let radius = weights.radius
    let cost = Double(blurred.rowCount * means.rowSamples) * 0.08 * Double(1 + 2 * radius)
    await context.bands.run(rows: blurred.rowCount, nanoseconds: cost) { band in
      let rows = unsafe sl_rows_current().pointee
      let memory = SampleMemory(count: means.rowSamples)
      unsafe weights.values.withUnsafeBufferPointer { weights in
        let weights = unsafe weights.baseAddress.unsafelyUnwrapped
        for row in band {
          unsafe means.withRows(row ... row + 2 * radius) {
            unsafe rows.fir_vertical_i16($0, radius, weights, means.rowSamples, memory[0])
          }
          unsafe rows.fir_horizontal(
            memory[radius * means.step], means.step, radius, weights, blurred.rowSamples,
            isEightBit, blurred.row(row))
        }
      }
    }
  }

  /// Interpolates linearly: horizontally once per row of cells, vertically per row.
  private func expand(_ blurred: CellGrid, _ context: PassContext) async {
    let shape = self.shape
    let factor = self.factor
    let fractionBits = context.inputs[0].depth == .eight ? 6 : 5
    let writer = RowWriter(
      context, shape, fractionBits: fractionBits, keepsAlpha: self.keepsAlpha)
    let destination = context.output.view
    let isNarrow = destination.depth == .eight
    let cost = Double(shape.samples * shape.height) * 0.15
    let isChroma = shape.scale < 1
    let isWideOdd = isChroma && !context.output.size.width.isMultiple(of: 2)
    let isHighOdd = isChroma && !context.output.size.height.isMultiple(of: 2)
    await context.bands.run(rows: shape.height, nanoseconds: cost) { band in
      let rows = unsafe sl_rows_current().pointee
      let memory = SampleMemory(count: 3 * shape.samples)
      var upper = unsafe (row: -1, samples: memory[0])
      var lower = unsafe (row: -1, samples: memory[shape.samples])
      let result = unsafe memory[2 * shape.samples]
      func expand(_ row: Int, to samples: UnsafeMutablePointer<Int16>) {
        unsafe rows.upsample_cells(blurred.cell(row: row), shape.step, shape.width, factor, samples)
        guard isWideOdd, shape.width > 1 else { return }
        for index in shape.samples - shape.step ..< shape.samples {
          let before = unsafe Int(samples[index - shape.step])
          unsafe samples[index] = Int16((before + 3 * Int(samples[index]) + 2) >> 2)
        }
      }
      for y in band {
        let row = (y + factor / 2) / factor
        if unsafe lower.row == row { unsafe swap(&upper, &lower) }
        if unsafe upper.row != row {
          unsafe expand(row, to: upper.samples)
          unsafe upper.row = row
        }
        if unsafe lower.row != row + 1 {
          unsafe expand(row + 1, to: lower.samples)
          unsafe lower.row = row + 1
        }
        let phase = (y + factor / 2) % factor
        let isLastOdd = isHighOdd && y == shape.height - 1
        let weight = Int16((2 * (2 * phase + 1) - (isLastOdd ? 1 : 0)) * 8192 / factor)
        if writer.isDirect {
          unsafe writer.writeBytes(y: y) { fourths, output in
            guard let fourths = unsafe fourths else {
              return unsafe rows.lerp_u8(
                upper.samples, lower.samples, weight, fractionBits, shape.samples,
                output.assumingMemoryBound(to: UInt8.self))
            }
            unsafe rows.lerp_colors(
              upper.samples, lower.samples, weight, fractionBits, fourths, shape.width, output)
          }
        } else if isNarrow {
          unsafe rows.lerp_u8(
            upper.samples, lower.samples, weight, fractionBits, shape.samples,
            destination.row(y, plane: shape.plane).assumingMemoryBound(to: UInt8.self))
          unsafe writer.copyAlpha(y: y, rows)
        } else {
          unsafe rows.lerp_i16(upper.samples, lower.samples, weight, shape.samples, result)
          unsafe writer.write(result, y: y, rows)
        }
      }
    }
  }
}

/// A reduced plane: cells of 16-bit samples with a margin on all sides.
@safe
struct CellGrid: Sendable {
  /// The number of cells without the margin.
  let size: FrameSize
  /// Samples from cell to cell.
  let step: Int
  let margin: Int
  private let buffer: PixelBuffer

  init(_ size: FrameSize, step: Int, margin: Int, pool: BufferPool) {
    self.size = size
    self.step = step
    self.margin = margin
    self.buffer = pool.makeBuffer(
      byteCount: (size.width + 2 * margin) * (size.height + 2 * margin) * step * 2)
  }

  var rowCount: Int { self.size.height + 2 * self.margin }
  var rowSamples: Int { (self.size.width + 2 * self.margin) * self.step }

  /// The start of a row, with its margin; row 0 is the first row of the margin.
  func row(_ row: Int) -> UnsafeMutablePointer<Int16> {
    unsafe self.buffer.bytes.baseAddress.unsafelyUnwrapped
      .assumingMemoryBound(to: Int16.self) + row * self.rowSamples
  }

  /// The first cell of a row after the margin; row 0 is the first row of the margin.
  func cell(row: Int) -> UnsafeMutablePointer<Int16> {
    unsafe self.row(row) + self.margin * self.step
  }

  /// Sets one channel of the margin's cells at both ends of a row.
  func fillMargin(row: Int, channel: Int, left: Int16, right: Int16) {
    let start = unsafe self.row(row) + channel
    for cell in 0 ..< self.margin {
      unsafe start[cell * self.step] = left
      unsafe start[(self.margin + self.size.width + cell) * self.step] = right
    }
  }

  /// Calls `body` with pointers to the rows of a range.
  func withRows<Result>(
    _ range: ClosedRange<Int>, _ body: (UnsafePointer<UnsafeRawPointer>) -> Result
  ) -> Result {
    unsafe withUnsafeTemporaryAllocation(of: UnsafeRawPointer.self, capacity: range.count) {
      pointers in
      for (index, row) in range.enumerated() {
        unsafe pointers.initializeElement(at: index, to: UnsafeRawPointer(self.row(row)))
      }
      return unsafe body(UnsafePointer(pointers.baseAddress.unsafelyUnwrapped))
    }
  }
}
