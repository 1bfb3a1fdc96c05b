import CKernels

/// A number for every place of a frame, by which colour is multiplied.
public struct ScalarField: Sendable {
  package enum Kind: Sendable {
    /// Changes slowly; a function of the place in pixels.
    case smooth(@Sendable (_ x: Double, _ y: Double) -> Double)
    /// New noise for every pixel and frame.
    case grain(GrainField)
  }

  package let kind: Kind

  /// A field that changes slowly, so that it may be sampled on a grid and interpolated. The grid is
  /// refined until the interpolation is within a thousandth.
  ///
  /// - Parameter value: The field at a place in pixels from the top left corner; pixel centres lie
  ///   at halves. Must be pure.
  public static func smooth(
    _ value: @escaping @Sendable (_ x: Double, _ y: Double) -> Double
  ) -> ScalarField {
    ScalarField(kind: .smooth(value))
  }

  /// Noise between 1 - amount and 1, a new one for every pixel and frame; the same for the same seed
  /// and frame number on every machine.
  ///
  /// - Parameter amount: 0 ... 1.
  public static func grain(amount: Double, seed: UInt64) -> ScalarField {
    ScalarField(kind: .grain(GrainField(amount: amount, seed: seed)))
  }

  /// The field at the centre of a pixel.
  package func value(x: Int, y: Int, moment: FrameMoment) -> Double {
    switch self.kind {
    case .smooth(let value): value(Double(x) + 0.5, Double(y) + 0.5)
    case .grain(let grain): grain.value(x: x, y: y, moment: moment)
    }
  }
}

/// A field, ready to be evaluated for rows of frames of a known size.
package final class PlannedField: Sendable {
  private let grid: FieldGrid?
  /// How rows are evaluated; valid while this object lives.
  package let view: FieldView
  /// What the field holds in memory, in bytes.
  package var byteCost: Int { self.grid?.byteCount ?? 0 }
  /// The greatest magnitude of the field.
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

/// How rows of a field are evaluated: plain figures and addresses, so that threads share it freely.
@safe
package enum FieldView: Sendable {
  case grid(FieldGrid.View)
  case grain(GrainField)

  /// Writes the field's values for a strip.
  func fill(_ out: UnsafeMutablePointer<Float>, for strip: Strip, _ rows: sl_rows) {
    switch self {
    case .grid(let grid):
      let (upper, lower, fraction) = unsafe grid.rows(y: strip.y)
      unsafe rows.interpolate(upper, lower, fraction, grid.spacing, strip.x, strip.count, out)
    case .grain(let grain):
      let noise = unsafe NoiseTable.start + grain.offset(y: strip.y, moment: strip.moment) + strip.x
      let amount = Float(grain.amount) / 255
      for index in 0 ..< strip.count {
        unsafe out[index] = 1 - amount * Float(noise[index])
      }
    }
  }

  /// Writes the field's values for a whole row in 1/16384, or multiplies them onto what is there.
  func fillFixed(
    _ out: UnsafeMutablePointer<Int16>, y: Int, width: Int, moment: FrameMoment,
    multiplies: Bool, _ rows: sl_rows
  ) {
    switch self {
    case .grid(let grid):
      let (upper, lower, fraction) = unsafe grid.rows(y: y)
      unsafe rows.field_row(upper, lower, fraction, grid.spacing, width, multiplies ? 1 : 0, out)
    case .grain(let grain):
      let noise = unsafe NoiseTable.start + grain.offset(y: y, moment: moment)
      // The rows divide by 256 where noise is of 255 parts.
      let amount = Int16((grain.amount * 16384 * 256 / 255).rounded())
      unsafe rows.grain_row(noise, amount, width, multiplies ? 1 : 0, out)
    }
  }
}

extension Node {
  /// Multiplies red, green and blue by a number that is computed for every pixel: for what changes
  /// too quickly for ``field(_:)``.
  ///
  /// - Parameter value: The number at a place in pixels from the top left corner; pixel centres lie
  ///   at halves. Must be pure.
  package static func exactField(
    _ value: @escaping @Sendable (_ x: Double, _ y: Double) -> Double
  ) -> Node {
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
    return Node(.kernel(kernel))
  }
}
