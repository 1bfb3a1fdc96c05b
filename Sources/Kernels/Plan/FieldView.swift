import CKernels

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
      unsafe rows.interpolate_field(upper, lower, fraction, grid.spacing, strip.x, strip.count, out)
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
