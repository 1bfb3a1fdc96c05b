import CKernels

/// Rows of a small picture, or of a guided filter's models, at the width of frames, in the code
/// values of their format. Owned by one band.
@safe
package final class ExpandedRows {
  private let planes: FloatPlanes
  private let factor: Int
  private let matrix: [Float]
  private let memory: FloatMemory
  /// Floats from one row of codes to the next.
  package let stride: Int
  /// The expanded rows in both slots.
  private var held = [-1, -1]

  /// - Parameters:
  ///   - planes: Red, green, blue and a fourth plane, or three weights and a bias.
  ///   - factor: The frame's pixels to one of the planes'.
  ///   - matrix: The four weights of the planes in all four codes.
  package init(_ planes: FloatPlanes, factor: Int, matrix: [Float]) {
    self.planes = planes
    self.factor = factor
    self.matrix = matrix
    self.stride = (planes.width * factor + 4 + 15) & ~15
    self.memory = FloatMemory(count: 8 * self.stride)
  }

  /// The four codes of the row above a row of the frame, then of the row below, and the share of
  /// the lower one.
  @safe
  package struct Pair {
    package let upper: UnsafePointer<Float>
    package let lower: UnsafePointer<Float>
    package let fraction: Float
    /// Floats from the row of one code to the row of the next.
    package let stride: Int

    /// The row of one code.
    package func code(_ code: Int) -> (upper: UnsafePointer<Float>, lower: UnsafePointer<Float>) {
      unsafe (self.upper + code * self.stride, self.lower + code * self.stride)
    }
  }

  /// Returns the rows about a row of the frame.
  ///
  /// - Parameter pixel: The row. One and a half is between the rows 1 and 2.
  package func rows(about pixel: Double) -> Pair {
    let place = FrameReduction.place(pixel, self.factor, self.planes.height)
    return unsafe Pair(
      upper: self.expanded(place.cell), lower: self.expanded(place.next),
      fraction: Float(place.fraction), stride: self.stride)
  }

  /// The two rows with centres around a row of the frame.
  package func cells(about pixel: Double) -> (cell: Int, next: Int) {
    let place = FrameReduction.place(pixel, self.factor, self.planes.height)
    return (place.cell, place.next)
  }

  private func expanded(_ row: Int) -> UnsafePointer<Float> {
    let out = unsafe self.memory[row % 2 * 4 * self.stride]
    if self.held[row % 2] != row {
      self.held[row % 2] = row
      unsafe sl_rows_current().pointee.guided_expand(
        self.planes.row(row), self.planes.stride, self.planes.width, self.matrix, self.factor, out,
        self.stride)
    }
    return unsafe UnsafePointer(out)
  }
}
