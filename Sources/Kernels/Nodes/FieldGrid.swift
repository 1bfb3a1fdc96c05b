/// A smooth field, sampled on a grid of knots when a plan is compiled. Pixels interpolate between
/// the knots linearly.
@safe
package final class FieldGrid: @unchecked Sendable {  // the knots are written once, in init
  /// The knots: plain numbers and an address.
  @safe
  package struct View: @unchecked Sendable {  // only read, while the grid lives
    /// Pixels from knot to knot: a power of two, 1 ... 32. Knot k is at pixel k * spacing.
    let spacing: Int
    /// Knots per row.
    let columns: Int
    fileprivate let knots: UnsafePointer<Float>

    /// The two rows of knots around a row of pixels, and its position between them, 0 ..< 1.
    func rows(y: Int) -> (upper: UnsafePointer<Float>, lower: UnsafePointer<Float>, Float) {
      let upper = unsafe self.knots + y / self.spacing * self.columns
      return unsafe (upper, upper + self.columns, Float(y % self.spacing) / Float(self.spacing))
    }
  }

  /// The knots; valid while the grid lives.
  package let view: View
  /// The bytes of the knots.
  package let byteCount: Int
  /// The maximum magnitude of a knot.
  package let maximum: Float
  private let knots: UnsafeMutablePointer<Float>

  /// The maximum error of an interpolated value: a quarter of a level.
  private static let tolerance = 1.0 / 1024

  /// The maximum number of knots: one per pixel of 1080p. Fields of larger frames with steep
  /// gradients are less accurate, which bounds time and memory.
  private static let maxKnots = 1 << 21

  /// Samples a field for a frame with the widest spacing that is accurate.
  package init(_ field: (Double, Double) -> Double, size: FrameSize) {
    var spacing = 32
    while spacing > 1, Self.knotCount(size, spacing / 2) <= Self.maxKnots,
      !Self.isAccurate(field, size, spacing)
    {
      spacing /= 2
    }
    let (columns, rows) = Self.knots(size, spacing)
    let knots = UnsafeMutablePointer<Float>.allocate(capacity: columns * rows)
    var maximum: Float = 0
    for row in 0 ..< rows {
      for column in 0 ..< columns {
        let value = Float(Self.value(field, column * spacing, row * spacing))
        maximum = max(maximum, abs(value))
        unsafe (knots + row * columns + column).initialize(to: value)
      }
    }
    self.maximum = maximum
    self.byteCount = columns * rows * MemoryLayout<Float>.stride
    unsafe self.knots = knots
    self.view = unsafe View(spacing: spacing, columns: columns, knots: UnsafePointer(knots))
  }

  private static func knots(_ size: FrameSize, _ spacing: Int) -> (columns: Int, rows: Int) {
    ((size.width - 1) / spacing + 2, (size.height - 1) / spacing + 2)
  }

  private static func knotCount(_ size: FrameSize, _ spacing: Int) -> Int {
    let (columns, rows) = Self.knots(size, spacing)
    return columns * rows
  }

  deinit {
    unsafe self.knots.deallocate()
  }

  /// The field at a pixel's centre.
  private static func value(_ field: (Double, Double) -> Double, _ x: Int, _ y: Int) -> Double {
    field(Double(x) + 0.5, Double(y) + 0.5)
  }

  /// Compares the field with its interpolation in the middle of every cell's part of the frame,
  /// where the error is greatest; in frames with few cells at more positions per cell, up to all.
  private static func isAccurate(
    _ field: (Double, Double) -> Double, _ size: FrameSize, _ spacing: Int
  ) -> Bool {
    let (columns, rows) = ((size.width - 1) / spacing + 1, (size.height - 1) / spacing + 1)
    let samplesPerSide = min(max(Int((4096 / Double(columns * rows)).squareRoot()), 1), spacing)
    let fractions = (0 ..< samplesPerSide).map { (Double($0) + 0.5) / Double(samplesPerSide) }
    for row in 0 ..< rows {
      let (top, bottom) = (row * spacing, (row + 1) * spacing)
      let height = Double(min(spacing, size.height - top))
      var left = (Self.value(field, 0, top), Self.value(field, 0, bottom))
      for column in 0 ..< columns {
        let (start, end) = (column * spacing, (column + 1) * spacing)
        let width = Double(min(spacing, size.width - start))
        let right = (Self.value(field, end, top), Self.value(field, end, bottom))
        for fractionX in fractions {
          for fractionY in fractions {
            let (x, y) = ((fractionX * width).rounded(.down), (fractionY * height).rounded(.down))
            let (across, down) = (x / Double(spacing), y / Double(spacing))
            let upper = left.0 + (right.0 - left.0) * across
            let lower = left.1 + (right.1 - left.1) * across
            let value = Self.value(field, start + Int(x), top + Int(y))
            if abs(upper + (lower - upper) * down - value) > Self.tolerance { return false }
          }
        }
        left = right
      }
    }
    return true
  }
}
