import CKernels

/// A field, ready to be evaluated for rows of a frame of a known size.
package enum PlannedField: Sendable {
  case grid(FieldGrid)
  case grain(GrainField)

  package init(_ field: ScalarField, size: FrameSize) {
    switch field.kind {
    case .smooth(let value): self = .grid(FieldGrid(value, size: size))
    case .grain(let grain): self = .grain(grain)
    }
  }

  /// The greatest magnitude of the field.
  package var maximum: Float {
    switch self {
    case .grid(let grid): grid.maximum
    case .grain(let grain): max(1, abs(1 - Float(grain.amount)))
    }
  }

  /// Writes the field's values for a strip.
  func fill(_ out: UnsafeMutablePointer<Float>, for strip: Strip, _ rows: sl_rows) {
    switch self {
    case .grid(let grid):
      unsafe grid.withRows(y: strip.y) { upper, lower, fraction in
        unsafe rows.interpolate(upper, lower, fraction, grid.spacing, strip.x, strip.count, out)
      }
    case .grain(let grain):
      let start = grain.offset(y: strip.y, moment: strip.moment) + strip.x
      let amount = Float(grain.amount) / 255
      unsafe NoiseTable.values.withUnsafeBufferPointer { noise in
        for index in 0 ..< strip.count {
          unsafe out[index] = 1 - amount * Float(noise[start + index])
        }
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
      unsafe grid.withRows(y: y) { upper, lower, fraction in
        unsafe rows.field_row(
          upper, lower, fraction, grid.spacing, width, multiplies ? 1 : 0, out)
      }
    case .grain(let grain):
      let start = grain.offset(y: y, moment: moment)
      // The rows divide by 256 where noise is of 255 parts.
      let amount = Int16((grain.amount * 16384 * 256 / 255).rounded())
      unsafe NoiseTable.values.withUnsafeBufferPointer { noise in
        unsafe rows.grain_row(
          noise.baseAddress.unsafelyUnwrapped + start, amount, width, multiplies ? 1 : 0, out)
      }
    }
  }
}
