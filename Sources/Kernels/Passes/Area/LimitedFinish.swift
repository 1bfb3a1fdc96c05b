import CKernels

/// Writes rows that may have left what the format holds: in a premultiplied frame, colour is limited
/// to alpha.
///
/// Pictures between passes are not limited; nothing is, before the end.
@safe
struct LimitedFinish: Sendable {
  private let finish: RowFinish
  private let output: Raster
  private let shape: PlaneShape
  private let limits: Bool

  /// - Parameters:
  ///   - fractionBits: How many bits of the sums lie below a level.
  ///   - keepsAlpha: Whether every fourth sample is the source's.
  init(
    _ context: PassContext, _ shape: PlaneShape, _ setting: PassSetting, fractionBits: Int,
    keepsAlpha: Bool
  ) {
    self.finish = RowFinish(context, shape, fractionBits: fractionBits, keepsAlpha: keepsAlpha)
    self.output = context.output
    self.shape = shape
    self.limits =
      setting.geometry.format.hasAlpha && setting.geometry.color.alpha == .premultiplied
      && context.output.depth == .eight
  }

  /// Writes one row.
  func write(_ sums: UnsafePointer<Int16>, y: Int, _ rows: sl_rows) {
    unsafe self.finish.write(sums, y: y, rows)
    guard self.limits else { return }
    unsafe sl_area_rows_current().pointee.limit_to_alpha(
      self.output.row(y, plane: self.shape.plane), self.shape.width)
  }
}
