import CKernels

/// An unsharp mask.
struct UnsharpMask: BlurredMixFilter {
  static let description = FilterDescription(
    name: "unsharpMask",
    summary: "Increases the contrast of edges.",
    category: .sharpen, reach: .neighborhood, fidelity: .formula, isCoreImage: true,
    keywords: "crisp focus sharpen detail",
    examples: ["unsharpMask(radius: 0.0078125h, intensity: 1.5)"],
    formula: """
      in + intensity * (in - blur(in)), blur the Gaussian of standard deviation radius. border \
      sets the pixels beyond the edges. Where there is alpha, colour is premultiplied, alpha is \
      limited to 0 ... 1 and colour to -1 ... 2. intensity 0 changes nothing
      """,
    parameters: BlurredMixParameters.list(
      radius: 2.5, intensity: -64 ... 64,
      "The weight of the added difference; 0 changes nothing."))
  static let weights = (up: -1.0, down: -1.0)

  let arguments: Arguments
}

/// An unsharp mask with a narrow Gaussian, per plane and row: a vertical filter, a horizontal
/// filter, and a mix with the result.
///
/// Both directions round once, to 1/64 level of bytes (1/32 of deep samples), to keep the error
/// within a level for large gains. A gain of less than 1 reduces errors: for bytes, every product
/// of the vertical filter is rounded, and the horizontal filter mixes (``SharpenWeights``).
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
      let mixed =
        source.depth == .eight
        ? SharpenWeights(weights.across, gain: self.operation.up) : nil
      await context.bands.run(
        rows: shape.height,
        nanoseconds: samples * 0.04 * Double(8 + weights.across.radius + weights.down.radius)
      ) { band in
        if let mixed {
          Self.run(band, source, shape, weights.down, mixed, writer)
        } else {
          Self.run(band, source, shape, weights, gain, writer)
        }
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
  /// Filters a picture of bytes by using a gain of less than 1.
  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ down: PlaneWeights,
    _ across: SharpenWeights, _ writer: LimitedRowWriter
  ) {
    let rows = unsafe sl_rows_current().pointee
    let margin = across.radius * shape.step
    let memory = SampleMemory(count: 2 * (shape.samples + 2 * margin) + 64)
    let column = unsafe memory[margin]
    let result = unsafe memory[shape.samples + 2 * margin]
    for y in band {
      let input = unsafe UnsafeRawPointer(source.row(y, plane: shape.plane))
      let vertical = down.weights(at: y, of: shape.height)
      unsafe RowPointers.withRows(source, shape, y - vertical.radius ... y + vertical.radius) {
        pointers in
        unsafe vertical.values.withUnsafeBufferPointer {
          unsafe rows.fir_vertical_u8(
            pointers, vertical.radius, $0.baseAddress.unsafelyUnwrapped, shape.samples, column)
        }
      }
      unsafe rows.replicate_edges(column, shape.step, shape.width, across.radius)
      func sharpen(_ weights: [Int16], from start: Int) {
        unsafe weights.withUnsafeBufferPointer {
          unsafe rows.sharpen_horizontal_u8(
            input + start, column + start, shape.step, weights.count - 1, across.own,
            $0.baseAddress.unsafelyUnwrapped, shape.samples - start, result + start)
        }
      }
      sharpen(across.inner, from: 0)
      if let last = across.last { sharpen(last, from: shape.samples - shape.step) }
      unsafe writer.write(result, y: y, rows)
    }
  }
}

/// The weights of a horizontal filter that mixes a picture with its blur.
struct SharpenWeights: Sendable {
  /// The weight of the picture, in 1/16384.
  let own: Int16
  /// The weights of the columns' blur at distances 0 and up, in 1/32768, and the last sample's
  /// weights if they differ (``PlaneWeights``).
  let inner: [Int16]
  let last: [Int16]?

  /// The distance of the furthest neighbour.
  var radius: Int { max(self.inner.count, self.last?.count ?? 0) - 1 }

  /// Multiplies the weights of a blur.
  ///
  /// - Parameters:
  ///   - blur: The weights of the blur; their sum is 1.
  ///   - gain: The weight of the blur's difference from the picture.
  /// - Returns: `nil` if the gain is not between -1 and 1.
  init?(_ blur: PlaneWeights, gain: Double) {
    let half = Int((gain * 16384).rounded())
    guard abs(half) < 16384 else { return nil }
    func scaled(_ weights: SymmetricWeights) -> [Int16] {
      var values = weights.values.map { Int((Double($0) * gain).rounded()) }
      // The centre takes the rounding error, to keep flat areas unchanged.
      values[0] += 2 * half - (2 * values.reduce(0, +) - values[0])
      return values.map { Int16(clamping: $0) }
    }
    self.own = Int16(16384 - half)
    self.inner = scaled(blur.inner)
    self.last = blur.last.map(scaled)
  }
}
