import CKernels

/// A narrow Gaussian of one plane: for each row, down and then across.
struct GaussianPlane {
  let shape: PlaneShape
  /// The standard deviation in the plane's pixels.
  let sigma: Double
  let keepsAlpha: Bool

  func run(_ context: PassContext) async {
    let weights = GaussianWeights(sigma: self.sigma)
    let source = context.inputs[0].view
    let shape = self.shape
    let finish = RowFinish(
      context, shape, fractionBits: source.depth == .eight ? 6 : 5, keepsAlpha: self.keepsAlpha)
    let cost = Double(shape.samples * shape.height) * 0.04 * Double(4 + 2 * weights.radius)
    await context.bands.run(rows: shape.height, nanoseconds: cost) { band in
      Self.run(band, source, shape, weights, finish)
    }
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ weights: GaussianWeights,
    _ finish: RowFinish
  ) {
    let rows = unsafe sl_rows_current().pointee
    let radius = weights.radius
    let margin = radius * shape.step
    let memory = SampleMemory(count: 2 * (shape.samples + 2 * margin))
    let column = unsafe memory[margin]
    let result = unsafe memory[shape.samples + 2 * margin]
    let vertical =
      source.depth == .eight ? unsafe rows.fir_vertical_u8 : unsafe rows.fir_vertical_i16
    unsafe weights.values.withUnsafeBufferPointer { weights in
      let weights = unsafe weights.baseAddress.unsafelyUnwrapped
      for y in band {
        unsafe RowPointers.withRows(source, shape, y - radius ... y + radius) {
          unsafe vertical($0, radius, weights, shape.samples, column)
        }
        unsafe rows.replicate_edges(column, shape.step, shape.width, radius)
        unsafe rows.fir_horizontal(
          column, shape.step, radius, weights, shape.samples, source.depth == .eight ? 1 : 0,
          result)
        unsafe finish.write(result, y: y, rows)
      }
    }
  }
}
