import CKernels

/// A number for every position of a frame. It multiplies the colour.
public struct ScalarField: Sendable {
  package enum Kind: Sendable {
    /// A field that changes slowly: a function of the position in pixels.
    case smooth(@Sendable (_ x: Double, _ y: Double) -> Double)
    /// Noise that differs for every pixel and frame.
    case grain(GrainField)
  }

  package let kind: Kind

  /// A field that changes slowly. It is sampled on a grid and interpolated linearly; the grid is
  /// refined until the error is within 1/1024.
  ///
  /// - Parameter value: The field at a position in pixels from the top left corner; pixel centres
  ///   are at halves. Must be pure.
  public static func smooth(
    _ value: @escaping @Sendable (_ x: Double, _ y: Double) -> Double
  ) -> ScalarField {
    ScalarField(kind: .smooth(value))
  }

  /// Noise in 1 - amount ... 1, which differs for every pixel and frame. The same seed and frame
  /// number give the same noise on every machine.
  ///
  /// - Parameters:
  ///   - amount: The maximum share of light that the noise removes, 0 ... 1.
  ///   - seed: The seed.
  public static func grain(amount: Double, seed: UInt64) -> ScalarField {
    ScalarField(kind: .grain(GrainField(amount: amount, seed: seed)))
  }

  /// The field at the centre of a pixel.
  package func value(x: Int, y: Int, time: FrameTime) -> Double {
    switch self.kind {
    case .smooth(let value): value(Double(x) + 0.5, Double(y) + 0.5)
    case .grain(let grain): grain.value(x: x, y: y, time: time)
    }
  }
}

/// A field, prepared for rows of frames of one size.
package final class PlannedField: Sendable {
  private let grid: FieldGrid?
  /// The evaluation of rows; valid while this object lives.
  package let view: FieldView
  /// The memory of the field, in bytes.
  package var byteCost: Int { self.grid?.byteCount ?? 0 }
  /// The maximum magnitude of the field.
  package let maximum: Float

  package init(_ field: ScalarField, size: FrameSize) {
    switch field.kind {
    case .smooth(let value):
      let grid = FieldGrid(value, size: size)
      self.grid = grid
      self.view = .grid(grid.view)
      self.maximum = grid.maximum
    case .grain(let grain):
      self.grid = nil
      self.view = .grain(grain)
      self.maximum = max(1, abs(1 - Float(grain.amount)))
    }
  }
}

/// The evaluation of a field's rows: plain numbers and addresses, which threads share without
/// reference counting.
@safe
package enum FieldView: Sendable {
  case grid(FieldGrid.View)
  case grain(GrainField)

  /// Writes the field's values for a strip.
  func fill(_ out: UnsafeMutablePointer<Float>, for strip: Strip, _ rows: sl_rows) {
    switch self {
    case .grid(let grid):
      let (upper, lower, fraction) = unsafe grid.rows(y: strip.y)
      unsafe rows.interpolate_field(upper, lower, fraction, grid.spacing, strip.x, strip.count, out)
    case .grain(let grain): unsafe grain.fill(out, strip)
    }
  }

  /// Writes the field's values for a whole row in units of 1/16384, or multiplies the existing
  /// values by them.
  func fillFixed(
    _ out: UnsafeMutablePointer<Int16>, y: Int, width: Int, time: FrameTime,
    multiplies: Bool, _ rows: sl_rows
  ) {
    switch self {
    case .grid(let grid):
      let (upper, lower, fraction) = unsafe grid.rows(y: y)
      unsafe rows.field_row(upper, lower, fraction, grid.spacing, width, multiplies ? 1 : 0, out)
    case .grain(let grain):
      let noise = unsafe NoiseTable.start + grain.offset(y: y, time: time)
      // The C rows divide by 256; noise has 255 parts.
      let amount = Int16((grain.amount * 16384 * 256 / 255).rounded())
      unsafe rows.grain_row(noise, amount, width, multiplies ? 1 : 0, out)
    }
  }
}

extension FilterNode {
  /// A factor of red, green and blue, evaluated for every pixel: for fields that change too quickly
  /// for ``field(_:)``.
  ///
  /// - Parameter value: The factor at a position in pixels from the top left corner; pixel centres
  ///   are at halves. Must be pure.
  package static func exactField(
    _ value: @escaping @Sendable (_ x: Double, _ y: Double) -> Double
  ) -> FilterNode {
    let kernel = StripKernel { pixel, x, y, _ in
      let factor = value(Double(x) + 0.5, Double(y) + 0.5)
      return [pixel.x * factor, pixel.y * factor, pixel.z * factor, pixel.w]
    } apply: { strip in
      let y = Double(strip.y) + 0.5
      for index in 0 ..< strip.count {
        let factor = Float(value(Double(strip.x + index) + 0.5, y))
        unsafe strip.red[index] *= factor
        unsafe strip.green[index] *= factor
        unsafe strip.blue[index] *= factor
      }
    }
    return FilterNode(.kernel(kernel))
  }
}

/// Noise that multiplies colour: 1 - amount * n, with n one of 256 equally likely values in 0 ...
/// 1.
package struct GrainField: Sendable, Hashable {
  /// The maximum share of light that the noise removes, 0 ... 1.
  package let amount: Double
  /// The seed; different seeds give different noise.
  package let seed: UInt64

  /// The noise at a pixel.
  package func value(x: Int, y: Int, time: FrameTime) -> Double {
    let noise = unsafe NoiseTable.start[self.offset(y: y, time: time) + x]
    return 1 - self.amount * Double(noise) / 255
  }

  /// Writes the noise of a strip.
  func fill(_ out: UnsafeMutablePointer<Float>, _ strip: Strip) {
    let noise = unsafe NoiseTable.start + self.offset(y: strip.y, time: strip.time) + strip.x
    let unit = Float(self.amount) / 255
    for index in 0 ..< strip.count {
      unsafe out[index] = 1 - unit * Float(noise[index])
    }
  }

  /// The offset of a row's noise in the table.
  package func offset(y: Int, time: FrameTime) -> Int {
    var hash = NoiseTable.mix(self.seed &+ 0x9e37_79b9_7f4a_7c15)
    hash = NoiseTable.mix(hash ^ time.index)
    hash = NoiseTable.mix(hash ^ UInt64(truncatingIfNeeded: y))
    return Int(hash % UInt64(NoiseTable.period))
  }
}

/// Bytes of noise, the same on every machine. Rows of pixels read runs of it from hashed offsets.
package enum NoiseTable {
  /// The number of distinct offsets.
  package static let period = 65536

  private static let values: UnsafeSendableBytes = {
    let count = Self.period + FrameLayout.maxDimension
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
    for index in 0 ..< count {
      unsafe (bytes + index).initialize(to: UInt8(truncatingIfNeeded: mix(UInt64(index)) >> 56))
    }
    return unsafe UnsafeSendableBytes(start: UnsafePointer(bytes))
  }()

  @safe
  private struct UnsafeSendableBytes: @unchecked Sendable {  // written once, never freed
    let start: UnsafePointer<UInt8>
  }

  /// The first byte. The table continues beyond ``period`` for the length of the longest row.
  package static var start: UnsafePointer<UInt8> { unsafe self.values.start }

  /// A hash of 64 bits in which every bit depends on every bit of the input (the finaliser of
  /// SplitMix64).
  package static func mix(_ value: UInt64) -> UInt64 {
    var z = value &+ 0x9e37_79b9_7f4a_7c15
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}

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
