import CKernels

/// The guided filter's models, interpolated to the width of a frame, for the code values of its
/// format. Owned by one band.
@safe
final class ExpandedModels {
  /// The rows of models around a row of pixels.
  @safe
  struct Rows {
    /// Three rows of weights and one of biases, ``ExpandedModels/stride`` apart, at or above the
    /// pixels.
    let upper: UnsafePointer<Float>
    /// The same, below the pixels.
    let lower: UnsafePointer<Float>
    /// The share of the models below.
    let fraction: Float
  }

  /// Floats from one row of weights to the next.
  let stride: Int
  private let models: FloatPlanes
  private let factor: Int
  private let matrix: [Float]
  private let memory: FloatMemory
  /// The expanded models in both slots.
  private var held = [-1, -1]

  /// - Parameters:
  ///   - models: The models of a small picture.
  ///   - factor: Pixels of the frame to one of the small picture.
  ///   - matrix: The map of models to code values, 4x4 numbers, row by row.
  init(_ models: FloatPlanes, factor: Int, matrix: [Float]) {
    self.models = models
    self.factor = factor
    self.matrix = matrix
    self.stride = (models.width * factor + 4 + 15) & ~15
    self.memory = FloatMemory(count: 8 * self.stride)
  }

  /// Returns the rows of models around a row of pixels. They are valid until the next call.
  func rows(around y: Int) -> Rows {
    let place = MatteBlend.place(y, self.factor, self.models.height)
    return unsafe Rows(
      upper: self.expanded(place.cell), lower: self.expanded(place.next),
      fraction: Float(place.fraction))
  }

  private func expanded(_ row: Int) -> UnsafePointer<Float> {
    let out = unsafe self.memory[row % 2 * 4 * self.stride]
    if self.held[row % 2] != row {
      self.held[row % 2] = row
      unsafe sl_rows_current().pointee.guided_expand(
        self.models.row(row), self.models.stride, self.models.width, self.matrix, self.factor, out,
        self.stride)
    }
    return unsafe UnsafePointer(out)
  }
}
