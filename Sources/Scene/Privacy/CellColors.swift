import SidelightKernels

import Synchronization

/// The mean colours of the cells of a grid on one plane of a frame.
///
/// A colour has up to three channels, in levels, of the frame on black. The fourth number is 1, and
/// 0 for a cell without samples.
struct CellColors: Sendable {
  let columns: Int
  let rows: Int
  private(set) var colors: [SIMD4<Float>]

  /// Divides sums of samples by their weights.
  ///
  /// - Parameters:
  ///   - sums: Per cell, row by row, the sums of up to three channels, and the number of samples;
  ///     for straight alpha 255 times the sums of colour on black, and of the number.
  ///   - columns: The number of cells of a row.
  init(_ sums: [SIMD4<Int>], columns: Int) {
    self.columns = columns
    self.rows = columns > 0 ? sums.count / columns : 0
    self.colors = sums.map { sum in
      guard sum.w > 0 else { return .zero }
      let colors = SIMD4<Double>(sum) / Double(sum.w)
      return SIMD4<Float>(SIMD4(colors.x, colors.y, colors.z, 1))
    }
  }

  /// The colours after a blur across cells with the weights 1, 2, 1 along both axes. Cells without
  /// samples count as absent, and get the colours of their neighbours.
  func blurred() -> CellColors {
    var result = self
    for row in 0 ..< self.rows {
      for column in 0 ..< self.columns {
        var sum = SIMD4<Float>.zero
        for y in max(row - 1, 0) ... min(row + 1, self.rows - 1) {
          for x in max(column - 1, 0) ... min(column + 1, self.columns - 1) {
            sum +=
              self.colors[y * self.columns + x]
              * ((x == column ? 2 : 1) * (y == row ? 2 : 1))
          }
        }
        result.colors[row * self.columns + column] = sum.w > 0 ? sum / sum.w : .zero
      }
    }
    return result
  }
}

/// The sums of the cells of a grid, which bands add theirs to.
final class GridSums: Sendable {
  private let sums: Mutex<[SIMD4<Int>]>

  /// Creates sums of 0.
  init(count: Int) {
    self.sums = Mutex([SIMD4<Int>](repeating: .zero, count: count))
  }

  var values: [SIMD4<Int>] { self.sums.withLock { $0 } }

  /// Adds sums to the cells' sums, beginning with the given cell.
  func add(_ others: [SIMD4<Int>], from first: Int = 0) {
    self.sums.withLock { sums in
      for (index, other) in others.enumerated() { sums[first + index] &+= other }
    }
  }
}
