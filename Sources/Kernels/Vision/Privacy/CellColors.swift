import Synchronization

/// The mean colours of the cells of a grid on one plane of a frame.
///
/// A colour has up to three channels, in levels, without the factor of alpha. The fourth number is
/// the weight: greater than 0 if the cell has a colour.
struct CellColors: Sendable {
  /// The alpha of a frame's colours.
  enum Alpha: Sendable, Hashable {
    /// There is none, or it is a fourth channel without meaning.
    case ignored
    case straight
    case premultiplied

    init(_ geometry: FrameGeometry) {
      switch geometry.alpha {
      case .opaque: self = .ignored
      case .straight: self = .straight
      case .premultiplied: self = .premultiplied
      }
    }
  }

  let columns: Int
  let rows: Int
  private(set) var colors: [SIMD4<Float>]

  /// Divides sums of samples by their weights.
  ///
  /// - Parameters:
  ///   - sums: For each cell, row by row, the sums of up to three channels times alpha, and the sum
  ///     of alpha; without alpha the sums of the channels and the number of samples.
  ///   - columns: The number of cells of a row.
  ///   - alpha: The alpha of the frame.
  init(_ sums: [SIMD4<Int>], columns: Int, alpha: Alpha) {
    self.columns = columns
    self.rows = columns > 0 ? sums.count / columns : 0
    // Sums of premultiplied colour are smaller by the factor of alpha, which is at most 255.
    let scale = alpha == .premultiplied ? 255.0 : 1
    self.colors = sums.map { sum in
      guard sum.w > 0 else { return .zero }
      let colors = SIMD4<Double>(sum) * (scale / Double(sum.w))
      return SIMD4<Float>(SIMD4(colors.x, colors.y, colors.z, 1)).clamped(
        lowerBound: .zero, upperBound: SIMD4(repeating: 255))
    }
  }

  /// The colours after a blur across cells with the weights 1, 2, 1 along each axis. Cells without
  /// a colour count as absent, and get the colours of their neighbours.
  func blurred() -> CellColors {
    var result = self
    for row in 0 ..< self.rows {
      for column in 0 ..< self.columns {
        var sum = SIMD4<Float>.zero
        for y in max(row - 1, 0) ... min(row + 1, self.rows - 1) {
          for x in max(column - 1, 0) ... min(column + 1, self.columns - 1) {
            let color = self.colors[y * self.columns + x]
            guard color.w > 0 else { continue }
            var known = color
            known.w = 1
            sum += known * ((x == column ? 2 : 1) * (y == row ? 2 : 1))
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

  /// Adds sums to those of the cells from the given one on.
  func add(_ others: [SIMD4<Int>], from first: Int = 0) {
    self.sums.withLock { sums in
      for (index, other) in others.enumerated() { sums[first + index] &+= other }
    }
  }
}
