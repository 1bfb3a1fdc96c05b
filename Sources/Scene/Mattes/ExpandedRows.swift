import CKernels

/// Rows of a small picture at the width of frames, in the code values of their format. Owned by one
/// band.
@safe
final class ExpandedRows {
  private let planes: FloatPlanes
  private let factor: Int
  private let matrix: [Float]
  private let memory: FloatMemory
  private let stride: Int
  /// The expanded rows in both slots.
  private var held = [-1, -1]

  /// - Parameters:
  ///   - planes: Red, green, blue and a fourth plane.
  ///   - factor: The frame's pixels to one of the planes'.
  ///   - matrix: The four weights of the planes in all four codes.
  init(_ planes: FloatPlanes, factor: Int, matrix: [Float]) {
    self.planes = planes
    self.factor = factor
    self.matrix = matrix
    self.stride = (planes.width * factor + 4 + 15) & ~15
    self.memory = FloatMemory(count: 8 * self.stride)
  }

  /// The four codes of the row above a row of the frame, then of the row below, and the share of
  /// the lower one.
  @safe
  struct Pair {
    let upper: UnsafePointer<Float>
    let lower: UnsafePointer<Float>
    let fraction: Float
    fileprivate let stride: Int

    /// The row of one code.
    func code(_ code: Int) -> (upper: UnsafePointer<Float>, lower: UnsafePointer<Float>) {
      unsafe (self.upper + code * self.stride, self.lower + code * self.stride)
    }
  }

  /// Returns the rows about a row of the frame.
  ///
  /// - Parameter pixel: The row. One and a half is between the rows 1 and 2.
  func rows(about pixel: Double) -> Pair {
    let place = MatteBlend.place(pixel, self.factor, self.planes.height)
    return unsafe Pair(
      upper: self.expanded(place.cell), lower: self.expanded(place.next),
      fraction: Float(place.fraction), stride: self.stride)
  }

  /// The two rows with centres around a row of the frame.
  func cells(about pixel: Double) -> (cell: Int, next: Int) {
    let place = MatteBlend.place(pixel, self.factor, self.planes.height)
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

extension FloatPlanes {
  /// Blurs planes by using consecutive means over boxes. Boxes end at the edges.
  ///
  /// - Parameters:
  ///   - radii: The boxes' radii, up to 16.
  ///   - count: The number of planes, the first ones.
  ///   - other: Planes of the same size, which are overwritten.
  ///   - bands: Divides the rows.
  /// - Returns: The planes with the result: these or the other ones.
  package func blurred(
    radii: [Int], count: Int, with other: FloatPlanes, _ bands: BandRunner
  ) async -> FloatPlanes {
    var (source, target) = (self, other)
    for radius in radii where radius > 0 {
      let (from, to) = (source, target)
      let cost = Double(self.width * self.height * count * radius)
      await bands.run(rows: self.height, nanoseconds: cost) { band in
        let rows = unsafe sl_rows_current().pointee
        for y in band {
          let window = max(y - radius, 0) ... min(y + radius, from.height - 1)
          for plane in 0 ..< count {
            unsafe withUnsafeTemporaryAllocation(
              of: UnsafePointer<Float>.self, capacity: window.count
            ) { pointers in
              for (index, row) in window.enumerated() {
                unsafe pointers.initializeElement(
                  at: index, to: UnsafePointer(from.row(row, plane: plane)))
              }
              unsafe rows.box_mean(
                pointers.baseAddress.unsafelyUnwrapped, window.count, from.width, radius,
                to.row(y, plane: plane))
            }
          }
        }
      }
      swap(&source, &target)
    }
    return source
  }

  /// The radii of three boxes that together have about the variance of a Gaussian.
  package static func boxRadii(variance: Double) -> [Int] {
    var rest = max(variance, 0)
    return (0 ..< 3).map { index in
      // A box of radius r has the variance r (r + 1) / 3.
      let share = rest / Double(3 - index)
      let radius = min(Int((((1 + 12 * share).squareRoot() - 1) / 2).rounded()), 16)
      rest = max(rest - Double(radius * (radius + 1)) / 3, 0)
      return radius
    }
  }
}
