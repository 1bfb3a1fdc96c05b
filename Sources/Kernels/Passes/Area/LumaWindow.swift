import CKernels

/// A narrow Gaussian of a plane of single samples, a row at a time. Owned by one band.
@safe
struct LumaWindow: ~Copyable {
  private let source: RasterView
  private let shape: PlaneShape
  private let weights: SymmetricWeights
  private let memory: SampleMemory

  init(_ source: RasterView, _ shape: PlaneShape, _ weights: SymmetricWeights) {
    self.source = source
    self.shape = shape
    self.weights = weights
    self.memory = SampleMemory(count: 2 * (shape.samples + 2 * weights.radius) + 64)
  }

  /// The blurred samples of a row, as sums; until the next call.
  func blurredRow(_ y: Int) -> UnsafeMutablePointer<Int16> {
    let rows = unsafe sl_rows_current().pointee
    let radius = self.weights.radius
    let column = unsafe self.memory[radius]
    let result = unsafe self.memory[self.shape.samples + 2 * radius]
    let down =
      unsafe self.source.depth == .eight ? rows.fir_vertical_exact_u8 : rows.fir_vertical_exact_i16
    unsafe self.weights.values.withUnsafeBufferPointer { weights in
      let weights = unsafe weights.baseAddress.unsafelyUnwrapped
      unsafe RowPointers.withRows(self.source, self.shape, y - radius ... y + radius) {
        unsafe down($0, radius, weights, self.shape.samples, column)
      }
      unsafe rows.replicate_edges(column, 1, self.shape.width, radius)
      unsafe rows.fir_horizontal_exact(column, 1, radius, weights, self.shape.samples, result)
    }
    return unsafe result
  }
}
