import CKernels

/// Writes deep rows of filters that exaggerate, which may have left what pictures hold.
///
/// Where there is alpha it is kept within 0 ... 1 and straight colour within -1 ... 2: beyond that,
/// colour that nobody can see would come back as soon as alpha does. A premultiplied frame, at the
/// end, has its colour limited to alpha. Opaque pictures are not limited between passes.
@safe
struct LimitedFinish: Sendable {
  private let finish: RowFinish
  private let output: RasterView
  private let shape: PlaneShape
  private let source: RasterView
  private let hasAlpha: Bool
  private let keepsAlpha: Bool
  private let limits: Bool

  /// - Parameter keepsAlpha: Whether alpha is the source's.
  init(
    _ context: PassContext, _ shape: PlaneShape, _ setting: PassSetting, keepsAlpha: Bool = false
  ) {
    self.finish = RowFinish(
      context, shape, fractionBits: 5, keepsAlpha: keepsAlpha || setting.keepsFourthChannel)
    self.source = context.inputs[0].view
    self.output = context.output.view
    self.shape = shape
    self.hasAlpha = setting.geometry.format.hasAlpha && !setting.keepsFourthChannel
    self.keepsAlpha = keepsAlpha
    self.limits =
      self.hasAlpha && setting.geometry.color.alpha == .premultiplied
      && context.output.depth == .eight
  }

  /// Writes one row of deep samples, which may be changed on the way.
  func write(_ row: UnsafeMutablePointer<Int16>, y: Int, _ rows: sl_rows) {
    guard self.hasAlpha else { return unsafe self.finish.write(row, y: y, rows) }
    if self.keepsAlpha {
      let input = unsafe self.source.row(y, plane: self.shape.plane)
      switch self.source.depth {
      case .eight: unsafe rows.copy_alpha_u8_i16(input, self.shape.width, row)
      case .deep: unsafe rows.copy_alpha_i16(input, self.shape.width, row)
      }
    }
    unsafe rows.clamp_by_alpha_i16(row, self.shape.width)
    unsafe self.finish.write(row, y: y, rows)
    guard self.limits else { return }
    unsafe rows.limit_to_alpha_u8(
      self.output.row(y, plane: self.shape.plane), self.shape.width)
  }
}
