import CKernels

/// An unsharp mask.
struct UnsharpMask: BlurredMixFilter {
  static let description = FilterDescription(
    name: "unsharpMask",
    summary: "Increases the contrast of edges.",
    category: .sharpen, reach: .neighborhood, fidelity: .formula,
    formula: """
      in + intensity * (in - blur(in)), blur the Gaussian of standard deviation radius. border \
      sets the pixels beyond the edges. Where there is alpha, colour is premultiplied, alpha is \
      limited to 0 ... 1 and colour to -1 ... 2. intensity 0 changes nothing
      """,
    parameters: BlurredMixSettings.parameters(
      radius: 2.5, intensity: -64 ... 64,
      "The weight of the added difference; 0 changes nothing."))
  static let weights = (up: -1.0, down: -1.0)

  let settings: BlurredMixSettings

  init(_ arguments: Arguments) {
    self.settings = BlurredMixSettings(arguments)
  }
}

/// An unsharp mask with a narrow Gaussian, for each plane and row: a vertical filter, a horizontal
/// filter, and a mix with the result.
///
/// Each direction rounds once, to 1/64 level of bytes (1/32 of deep samples), so that the error
/// stays within a level for large gains.
package struct UnsharpPass: OperationPass {
  package let setting: PassSetting
  let operation: BlurredMixOperation

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    for shape in PlaneShape.planes(source.format, source.size) {
      let sigma = self.operation.sigma
      guard sigma >= GaussianBlurOperation.minSigma else {
        await PlaneCopy(shape: shape).run(context)
        continue
      }
      let gain = Float(self.operation.up)
      let exact = SymmetricWeights.gaussian(
        sigma: sigma, reach: SymmetricWeights.reach(gain: abs(self.operation.up)))
      let weights = (
        across: PlaneWeights(exact, shape, length: source.size.width),
        down: PlaneWeights(exact, shape, length: source.size.height)
      )
      let writer = LimitedRowWriter(context, shape, self.setting)
      let samples = Double(shape.samples * shape.height)
      await context.bands.run(
        rows: shape.height,
        nanoseconds: samples * 0.04 * Double(8 + weights.across.radius + weights.down.radius)
      ) { band in
        Self.run(band, source, shape, weights, gain, writer)
      }
    }
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape,
    _ weights: (across: PlaneWeights, down: PlaneWeights), _ gain: Float, _ writer: LimitedRowWriter
  ) {
    let rows = unsafe sl_rows_current().pointee
    let radius = weights.across.radius
    let margin = radius * shape.step
    let memory = SampleMemory(count: 3 * (shape.samples + 2 * margin) + 64)
    let column = unsafe memory[margin]
    let blurred = unsafe memory[shape.samples + 2 * margin]
    let result = unsafe memory[2 * (shape.samples + 2 * margin)]
    let isEightBit = source.depth == .eight
    let down = unsafe isEightBit ? rows.fir_vertical_exact_u8 : rows.fir_vertical_exact_i16
    let mixRow = unsafe isEightBit ? rows.mix_blurred_u8 : rows.mix_blurred_i16
    let unit: Float = isEightBit ? 1 / 64 : 1 / 32
    func blur(_ weights: SymmetricWeights, from start: Int) {
      unsafe weights.values.withUnsafeBufferPointer {
        unsafe rows.fir_horizontal_exact(
          column + start, shape.step, weights.radius, $0.baseAddress.unsafelyUnwrapped,
          shape.samples - start, isEightBit ? 1 : 0, blurred + start)
      }
    }
    for y in band {
      let vertical = weights.down.weights(at: y, of: shape.height)
      unsafe RowPointers.withRows(source, shape, y - vertical.radius ... y + vertical.radius) {
        pointers in
        unsafe vertical.values.withUnsafeBufferPointer {
          unsafe down(
            pointers, vertical.radius, $0.baseAddress.unsafelyUnwrapped, shape.samples, column)
        }
      }
      unsafe rows.replicate_edges(column, shape.step, shape.width, radius)
      blur(weights.across.inner, from: 0)
      if let last = weights.across.last { blur(last, from: shape.samples - shape.step) }
      unsafe mixRow(
        source.row(y, plane: shape.plane), blurred, unit, gain, gain, shape.samples, result)
      unsafe writer.write(result, y: y, rows)
    }
  }
}
