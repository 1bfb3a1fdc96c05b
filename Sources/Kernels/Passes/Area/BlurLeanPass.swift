import CKernels

/// A Gaussian into a picture of its own, and then each pixel towards it or away from it.
package struct BlurLeanPass: Pass {
  package let description: PassDescription
  private let operation: BlurLeanOperation
  private let setting: PassSetting

  init(_ setting: PassSetting, _ operation: BlurLeanOperation) {
    self.description = setting.description
    self.setting = setting
    self.operation = operation
  }

  package func run(_ context: PassContext) async {
    let blurred = Raster(layout: context.output.layout, depth: .deep, pool: context.pool)
    let blur = GaussianBlurPass(self.setting, sigma: self.operation.sigma)
    await blur.run(
      PassContext(
        inputs: context.inputs, output: blurred, moment: context.moment, pool: context.pool,
        bands: context.bands))
    await self.lean(context, blurred)
  }

  private func lean(_ context: PassContext, _ blurred: Raster) async {
    let source = context.inputs[0].view
    let blurred = blurred.view
    let operation = self.operation
    for shape in PlaneShape.planes(source.format, source.size) {
      let finish = LimitedFinish(context, shape, self.setting)
      let followsLuma = shape.scale < 1 && !operation.isLinear
      await context.bands.run(
        rows: shape.height, nanoseconds: Double(shape.samples * shape.height) * 0.2
      ) { band in
        if followsLuma {
          Self.follow(band, source, blurred, shape, operation, finish)
        } else {
          Self.lean(band, source, blurred, shape, operation, finish)
        }
      }
    }
  }

  private static func lean(
    _ band: Range<Int>, _ source: RasterView, _ blurred: RasterView, _ shape: PlaneShape,
    _ operation: BlurLeanOperation, _ finish: LimitedFinish
  ) {
    let rows = unsafe sl_rows_current().pointee
    let memory = SampleMemory(count: shape.samples + 64)
    let result = unsafe memory[0]
    let lean = unsafe source.depth == .eight ? rows.mix_blurred_u8 : rows.mix_blurred_i16
    for y in band {
      unsafe lean(
        source.row(y, plane: shape.plane), blurred.samples(y, shape.plane), 1 / 32,
        Float(operation.up), Float(operation.down), shape.samples, result)
      unsafe finish.write(result, y: y, rows)
    }
  }

  /// Chroma, by as much as luma says.
  private static func follow(
    _ band: Range<Int>, _ source: RasterView, _ blurred: RasterView, _ shape: PlaneShape,
    _ operation: BlurLeanOperation, _ finish: LimitedFinish
  ) {
    let rows = unsafe sl_rows_current().pointee
    let isNarrow = source.depth == .eight
    let differ = unsafe isNarrow ? rows.mix_blurred_chroma_u8 : rows.mix_blurred_chroma_i16
    let memory = SampleMemory(count: shape.samples + 64)
    let result = unsafe memory[0]
    let (width, lastRow) = (source.size.width, source.size.height - 1)
    for y in band {
      let lower = min(2 * y + 1, lastRow)
      let luma = unsafe (
        source.row(2 * y), source.row(lower), blurred.samples(2 * y, 0), blurred.samples(lower, 0)
      )
      unsafe differ(
        luma.0, luma.1, luma.2, luma.3, width, source.row(y, plane: shape.plane),
        blurred.samples(y, shape.plane), shape.step, Float(operation.up), Float(operation.down),
        Float(BlurLeanOperation.ramp), result)
      unsafe finish.write(result, y: y, rows)
    }
  }
}

extension RasterView {
  /// The first sample of a row of a deep picture.
  func samples(_ row: Int, _ plane: Int) -> UnsafeMutablePointer<Int16> {
    unsafe self.row(row, plane: plane).assumingMemoryBound(to: Int16.self)
  }
}
