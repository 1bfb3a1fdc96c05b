import CKernels

/// Sharpening of luma.
struct SharpenLuminance: ArgumentFilter {
  static let description = FilterDescription(
    name: "sharpenLuminance",
    summary: "Sharpens luma; colours do not change.",
    category: .sharpen, reach: .neighborhood, fidelity: .modelled, isCoreImage: true,
    keywords: "crisp focus detail",
    examples: ["sharpenLuminance(sharpness: 2)"],
    formula: """
      rgb' = rgb + sharpness * (Y - blur(Y)), Y = .2126 r + .7152 g + .0722 b (the luma plane in \
      YUV formats, whose chroma does not change), blur the Gaussian of standard deviation radius. \
      Edges are clamped; sharpness 0 changes nothing
      """,
    parameters: [
      ParameterDescription(
        "sharpness", .number, default: .number(0.4), slider: 0 ... 2, limits: -64 ... 64,
        "The weight of the added detail; 0 changes nothing."),
      ParameterDescription(
        "radius", .length, default: .number(1.69), slider: 0 ... 20, limits: 0 ... 1024,
        unit: .pixels, "The standard deviation of the blur that separates detail."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let sharpness = self.arguments.number("sharpness")
    let sigma = min(self.arguments.length("radius").pixels(in: geometry.size), 1024)
    guard sigma >= GaussianBlurOperation.minSigma, sharpness != 0 else { return [] }
    return [FilterNode(.neighborhood(LumaSharpenOperation(sigma: sigma, gain: sharpness)))]
  }
}

/// A sharpening of luma by its difference from a Gaussian blur, added to all channels, which keeps
/// hues unchanged.
///
/// In pictures with alpha, luma is computed from premultiplied colour, and the difference is
/// multiplied by alpha, which keeps transparent pixels unchanged.
package struct LumaSharpenOperation: NeighborhoodOperation {
  /// The Gaussian's standard deviation in pixels.
  package let sigma: Double
  /// The weight of the difference.
  package let gain: Double

  package var limitsLast: Bool { true }

  package func spread(in geometry: FrameGeometry) -> Double? {
    ContentSpread.gaussian(sigma: self.sigma)
  }

  package var summary: String {
    "luma sharpened by \(self.gain) of its detail below sigma \(self.sigma)"
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
    LumaSharpenPass(setting: setting, operation: self)
  }
}

/// A sharpening of luma: on the luma plane if the format has one, otherwise on the luma of pixels,
/// with the difference added to every colour channel.
package struct LumaSharpenPass: OperationPass {
  /// The source of rows of blurred luma.
  private enum BlurredLuma: Sendable {
    /// A narrow Gaussian with these weights, computed from the rows of luma.
    case window(SymmetricWeights)
    /// A picture that is already blurred.
    case picture(RasterView)
  }

  package let setting: PassSetting
  let operation: LumaSharpenOperation

  package func run(_ context: PassContext) async {
    let source = context.inputs[0]
    let shapes = PlaneShape.planes(source.format, source.size)
    let luma = shapes[0].step >= 3 ? await self.luma(context) : source
    let shape = PlaneShape(
      plane: 0, step: 1, width: source.size.width, height: source.size.height, scale: 1)
    let sigma = self.operation.sigma
    if sigma <= BlurredMixOperation.maxExactSigma {
      let reach = SymmetricWeights.reach(gain: abs(self.operation.gain))
      await self.sharpen(
        context, luma, shape, .window(SymmetricWeights(sigma: sigma, reach: reach)))
    } else {
      let blurred = Self.grayRaster(context)
      let blurring = context.replacing(inputs: [luma], output: blurred)
      let factor = GaussianBlurPass.factor(sigma: sigma)
      await GaussianPyramid(shape: shape, sigma: sigma, factor: factor, keepsAlpha: false)
        .run(blurring)
      await self.sharpen(context, luma, shape, .picture(blurred.view))
      // The view above is addresses without ownership.
      withExtendedLifetime(blurred) {}
    }
    for chroma in shapes.dropFirst() { await PlaneCopy(shape: chroma).run(context) }
  }

  private static func grayRaster(_ context: PassContext) -> Raster {
    // The input's size is a frame's, which is valid for a plane too.
    guard let layout = try? FrameLayout(aligned: .gray8, size: context.inputs[0].size) else {
      preconditionFailure("no frame has the size \(context.inputs[0].size)")
    }
    return Raster(layout: layout, depth: .deep, pool: context.pool)
  }

  /// Computes the luma of every pixel, in sums: units of 1/64 level from bytes, 1/32 from deep
  /// samples.
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
    _ context: PassContext, _ luma: Raster, _ shape: PlaneShape, _ blurred: BlurredLuma
  ) async {
    let source = context.inputs[0].view
    let luma = luma.view
    let colorShape = PlaneShape.planes(source.format, source.size)[0]
    let (radius, isWindow) =
      switch blurred {
      case .window(let weights): (weights.radius, true)
      case .picture: (0, false)
      }
    let gain = Float(self.operation.gain)
    let hasAlpha = colorShape.step == 4 && !self.setting.keepsFourthChannel
    let writer = LimitedRowWriter(context, colorShape, self.setting, keepsAlpha: true)
    let cost = Double(shape.samples * shape.height) * 0.04 * Double(24 + 2 * radius)
    await context.bands.run(rows: shape.height, nanoseconds: cost) { band in
      let rows = unsafe sl_rows_current().pointee
      let isEightBit = source.depth == .eight
      let memory = SampleMemory(count: colorShape.samples + 64)
      let result = unsafe memory[0]
      func write(_ y: Int, _ blurredRow: UnsafeMutablePointer<Int16>) {
        if colorShape.step >= 3 {
          let sharpenRow = unsafe isEightBit ? rows.sharpen_luma_u8 : rows.sharpen_luma_i16
          unsafe sharpenRow(
            source.row(y), colorShape.step, luma.samples(y, 0), blurredRow, gain, hasAlpha ? 1 : 0,
            shape.width, result)
        } else {
          let mixRow = unsafe isEightBit ? rows.mix_blurred_u8 : rows.mix_blurred_i16
          let unit: Float = isEightBit && isWindow ? 1 / 64 : 1 / 32
          unsafe mixRow(source.row(y), blurredRow, unit, -gain, -gain, shape.samples, result)
        }
        unsafe writer.write(result, y: y, rows)
      }
      switch blurred {
      case .window(let weights):
        let window = LumaWindow(luma, shape, weights)
        for y in band { unsafe write(y, window.blurredRow(y)) }
      case .picture(let picture):
        for y in band { unsafe write(y, picture.samples(y, 0)) }
      }
    }
  }
}

/// A narrow Gaussian of a plane of single samples, one row at a time. Owned by one band.
@safe
struct LumaWindow: ~Copyable {
  private let source: RasterView
  private let shape: PlaneShape
  private let weights: SymmetricWeights
  private let memory: SampleMemory

  init(_ source: RasterView, _ shape: PlaneShape, _ weights: SymmetricWeights) {
    self.source = source
    self.shape = shape
    self.weights = weights
    self.memory = SampleMemory(count: 2 * (shape.samples + 2 * weights.radius) + 64)
  }

  /// Returns the blurred samples of a row, as sums. They are valid until the next call.
  func blurredRow(_ y: Int) -> UnsafeMutablePointer<Int16> {
    let rows = unsafe sl_rows_current().pointee
    let radius = self.weights.radius
    let column = unsafe self.memory[radius]
    let result = unsafe self.memory[self.shape.samples + 2 * radius]
    let isEightBit = self.source.depth == .eight
    let down = unsafe isEightBit ? rows.fir_vertical_exact_u8 : rows.fir_vertical_exact_i16
    unsafe self.weights.values.withUnsafeBufferPointer { weights in
      let weights = unsafe weights.baseAddress.unsafelyUnwrapped
      unsafe RowPointers.withRows(self.source, self.shape, y - radius ... y + radius) {
        unsafe down($0, radius, weights, self.shape.samples, column)
      }
      unsafe rows.replicate_edges(column, 1, self.shape.width, radius)
      unsafe rows.fir_horizontal_exact(
        column, 1, radius, weights, self.shape.samples, isEightBit ? 1 : 0, result)
    }
    return unsafe result
  }
}
