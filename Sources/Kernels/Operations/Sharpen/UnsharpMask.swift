import CKernels

/// An unsharp mask.
struct UnsharpMask: CatalogueFilter {
  static let description = FilterDescription(
    name: "unsharpMask",
    summary: "Increases the contrast of edges.",
    category: .sharpen, reach: .neighborhood, fidelity: .formula,
    formula: """
      in + intensity * (in - blur(in)), blur the Gaussian of standard deviation radius. border \
      sets the pixels beyond the edges. Where there is alpha, colour is premultiplied, alpha is \
      limited to 0 ... 1 and colour to -1 ... 2. intensity 0 changes nothing
      """,
    parameters: [
      ParameterDescription(
        "radius", .length, default: .number(2.5), slider: 0 ... 100, limits: 0 ... 1024,
        unit: .pixels, "The standard deviation of the blur."),
      ParameterDescription(
        "intensity", .number, default: .number(0.5), slider: 0 ... 1, limits: -64 ... 64,
        "The weight of the added difference; 0 changes nothing."),
      Border.parameter,
    ])

  private let radius: Length
  private let intensity: Double
  private let border: Border

  init(_ arguments: Arguments) {
    self.radius = arguments.length("radius")
    self.intensity = arguments.number("intensity")
    self.border = Border(arguments)
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let sigma = min(self.radius.pixels(in: geometry.size), 1024)
    guard sigma >= GaussianBlurOperation.leastSigma, self.intensity != 0 else { return [] }
    return self.border.nodes(for: geometry) { _, _ in
      [
        FilterNode(
          .neighborhood(
            BlurredMixOperation(sigma: sigma, up: -self.intensity, down: -self.intensity)))
      ]
    }
  }
}

/// An unsharp mask with a narrow Gaussian, for each plane and row: a vertical filter, a horizontal
/// filter, and a mix with the result.
///
/// Each direction rounds once, to 1/64 level of bytes (1/32 of deep samples), so that the error
/// stays within a level for large gains.
package struct UnsharpPass: Pass {
  package let description: PassDescription
  private let operation: BlurredMixOperation
  private let setting: PassSetting

  init(_ setting: PassSetting, _ operation: BlurredMixOperation) {
    self.description = setting.description
    self.operation = operation
    self.setting = setting
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    for shape in PlaneShape.planes(source.format, source.size) {
      let sigma = self.operation.sigma
      guard sigma >= GaussianBlurOperation.leastSigma else {
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
      let finish = LimitedRowWriter(context, shape, self.setting)
      let samples = Double(shape.samples * shape.height)
      await context.bands.run(
        rows: shape.height,
        nanoseconds: samples * 0.04 * Double(8 + weights.across.radius + weights.down.radius)
      ) { band in
        Self.run(band, source, shape, weights, gain, finish)
      }
    }
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape,
    _ weights: (across: PlaneWeights, down: PlaneWeights), _ gain: Float, _ finish: LimitedRowWriter
  ) {
    let rows = unsafe sl_rows_current().pointee
    let radius = weights.across.radius
    let margin = radius * shape.step
    let memory = SampleMemory(count: 3 * (shape.samples + 2 * margin) + 64)
    let column = unsafe memory[margin]
    let blurred = unsafe memory[shape.samples + 2 * margin]
    let result = unsafe memory[2 * (shape.samples + 2 * margin)]
    let isNarrow = source.depth == .eight
    let down = unsafe isNarrow ? rows.fir_vertical_exact_u8 : rows.fir_vertical_exact_i16
    let lean = unsafe isNarrow ? rows.mix_blurred_u8 : rows.mix_blurred_i16
    let unit: Float = isNarrow ? 1 / 64 : 1 / 32
    func blur(_ weights: SymmetricWeights, from start: Int) {
      unsafe weights.values.withUnsafeBufferPointer {
        unsafe rows.fir_horizontal_exact(
          column + start, shape.step, weights.radius, $0.baseAddress.unsafelyUnwrapped,
          shape.samples - start, blurred + start)
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
      unsafe lean(
        source.row(y, plane: shape.plane), blurred, unit, gain, gain, shape.samples, result)
      unsafe finish.write(result, y: y, rows)
    }
  }
}
