/// A smooth field, sampled on a grid of knots at plan time; pixels interpolate between them.
package struct FieldGrid: Sendable {
  /// Pixels from knot to knot: a power of two, 1 ... 32.
  package let spacing: Int
  /// Knots a row.
  package let columns: Int
  /// The greatest value of a knot.
  package let maximum: Float
  private let knots: [Float]

  /// An interpolated value may differ from the field by this: a quarter of a level.
  private static let tolerance = 1.0 / 1024

  /// Samples a field for a frame, with the widest spacing that is accurate.
  package init(_ field: (Double, Double) -> Double, size: FrameSize) {
    var spacing = 32
    while spacing > 1, !Self.isAccurate(field, size, spacing) { spacing /= 2 }
    self.spacing = spacing
    self.columns = (size.width - 1) / spacing + 2
    let rows = (size.height - 1) / spacing + 2
    var knots: [Float] = []
    knots.reserveCapacity(self.columns * rows)
    for row in 0 ..< rows {
      for column in 0 ..< self.columns {
        knots.append(Float(Self.value(field, column * spacing, row * spacing)))
      }
    }
    self.knots = knots
    self.maximum = knots.reduce(0) { max($0, abs($1)) }
  }

  /// Calls `body` with the two rows of knots between which the centres of a row of pixels lie, and
  /// how far between.
  package func withRows<Result>(
    y: Int, _ body: (UnsafePointer<Float>, UnsafePointer<Float>, Float) -> Result
  ) -> Result {
    let row = y / self.spacing
    let fraction = Float(y % self.spacing) / Float(self.spacing)
    return unsafe self.knots.withUnsafeBufferPointer { knots in
      let upper = unsafe knots.baseAddress.unsafelyUnwrapped + row * self.columns
      return unsafe body(upper, upper + self.columns, fraction)
    }
  }

  /// The field at a pixel's centre.
  private static func value(_ field: (Double, Double) -> Double, _ x: Int, _ y: Int) -> Double {
    field(Double(x) + 0.5, Double(y) + 0.5)
  }

  /// Compares the field with its interpolation in the middle of each cell, where it is worst.
  private static func isAccurate(_ field: (Double, Double) -> Double, _ size: FrameSize, _ spacing: Int) -> Bool {
    for row in 0 ... (size.height - 1) / spacing {
      let (top, bottom) = (row * spacing, (row + 1) * spacing)
      var left = (Self.value(field, 0, top), Self.value(field, 0, bottom))
      for column in 0 ... (size.width - 1) / spacing {
        let x = (column + 1) * spacing
        let right = (Self.value(field, x, top), Self.value(field, x, bottom))
        let mean = (left.0 + left.1 + right.0 + right.1) / 4
        let middle = Self.value(field, x - spacing / 2, (top + bottom) / 2)
        if abs(mean - middle) > Self.tolerance { return false }
        left = right
      }
    }
    return true
  }
}
