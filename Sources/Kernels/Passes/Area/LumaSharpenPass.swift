import CKernels

/// Sharpens luma: on its own plane where there is one, else on the luma of each pixel, whose detail
/// is then added to every colour channel.
package struct LumaSharpenPass: Pass {
  package let description: PassDescription
  private let operation: LumaSharpenOperation
  private let setting: PassSetting

  init(_ setting: PassSetting, _ operation: LumaSharpenOperation) {
    self.description = setting.description
    self.setting = setting
    self.operation = operation
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0]
    let shapes = PlaneShape.planes(source.format, source.size)
    let luma = shapes[0].step >= 3 ? await self.luma(context) : source
    let shape = PlaneShape(
      plane: 0, step: 1, width: source.size.width, height: source.size.height, scale: 1)
    let sigma = self.operation.sigma
    if sigma <= BlurLeanOperation.greatestExactSigma {
      await self.sharpen(context, luma, shape, blurred: nil)
    } else {
      let blurred = Self.grayRaster(context)
      let blurring = PassContext(
        inputs: [luma], output: blurred, moment: context.moment, pool: context.pool,
        bands: context.bands)
      let factor = GaussianBlurPass.factor(sigma: sigma)
      await GaussianPyramid(shape: shape, sigma: sigma, factor: factor, keepsAlpha: false)
        .run(blurring)
      await self.sharpen(context, luma, shape, blurred: blurred)
    }
    for chroma in shapes.dropFirst() { await PlaneCopy(shape: chroma).run(context) }
  }

  private static func grayRaster(_ context: PassContext) -> Raster {
    // The input's size is a frame's, so a plane of it exists.
    guard let layout = try? FrameLayout(aligned: .gray8, size: context.inputs[0].size) else {
      preconditionFailure("no frame has the size \(context.inputs[0].size)")
    }
    return Raster(layout: layout, depth: .deep, pool: context.pool)
  }

  /// The luma of every pixel, in sums: 1/64 level from bytes, 1/32 from deep samples.
  private func luma(_ context: PassContext) async -> Raster {
    let source = context.inputs[0].view
    let luma = Self.grayRaster(context)
    let rows = luma.view
    let weights = LumaWeights(source.format).fixed
    let (width, height) = (source.size.width, source.size.height)
    let step = PlaneShape.planes(source.format, source.size)[0].step
    await context.bands.run(
      rows: height, nanoseconds: Double(width * height) * 0.3
    ) { band in
      let table = unsafe sl_rows_current().pointee
      let convert = unsafe source.depth == .eight ? table.luma_u8 : table.luma_i16
      unsafe weights.withUnsafeBufferPointer { weights in
        for y in band {
          unsafe convert(
            source.row(y), step, weights.baseAddress.unsafelyUnwrapped, width,
            rows.samples(y, 0))
        }
      }
    }
    return luma
  }

  private func sharpen(
    _ context: PassContext, _ luma: Raster, _ shape: PlaneShape, blurred: Raster?
  ) async {
    let source = context.inputs[0].view
    let (luma, blurred) = (luma.view, blurred?.view)
    let colour = PlaneShape.planes(source.format, source.size)[0]
    let weights = SymmetricWeights(
      sigma: self.operation.sigma, reach: SymmetricWeights.reach(gain: abs(self.operation.gain)))
    let gain = Float(self.operation.gain)
    let hasAlpha = colour.step == 4 && !self.setting.keepsFourthChannel
    let finish = LimitedFinish(context, colour, self.setting, keepsAlpha: true)
    let cost = Double(shape.samples * shape.height) * 0.04 * Double(24 + 2 * weights.radius)
    await context.bands.run(rows: shape.height, nanoseconds: cost) { band in
      let rows = unsafe sl_rows_current().pointee
      let isNarrow = source.depth == .eight
      let window = LumaWindow(luma, shape, weights)
      let memory = SampleMemory(count: colour.samples + 64)
      let result = unsafe memory[0]
      for y in band {
        let soft = unsafe blurred?.samples(y, 0) ?? window.blurredRow(y)
        if colour.step >= 3 {
          let lift = unsafe isNarrow ? rows.sharpen_luma_u8 : rows.sharpen_luma_i16
          unsafe lift(
            source.row(y), colour.step, luma.samples(y, 0), soft, gain, hasAlpha ? 1 : 0,
            shape.width, result)
        } else {
          let lean = unsafe isNarrow ? rows.mix_blurred_u8 : rows.mix_blurred_i16
          let unit: Float = isNarrow && blurred == nil ? 1 / 64 : 1 / 32
          unsafe lean(source.row(y), soft, unit, -gain, -gain, shape.samples, result)
        }
        unsafe finish.write(result, y: y, rows)
      }
    }
  }
}
