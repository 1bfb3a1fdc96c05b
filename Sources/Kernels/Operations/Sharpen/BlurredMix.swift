import CKernels

/// A filter that mixes the picture with its Gaussian blur: in + intensity * (up * max(0, d) +
/// down * min(0, d)), d = blur(in) - in.
protocol BlurredMixFilter: ArgumentFilter {
  /// The weights of the difference at intensity 1: where the blur is brighter, and where it is
  /// darker.
  static var weights: (up: Double, down: Double) { get }
}

/// The parameters of a filter that mixes the picture with its blur.
enum BlurredMixParameters {
  /// - Parameter radius: The default radius in pixels.
  static func list(
    radius: Double, intensity limits: ClosedRange<Double>, _ summary: String
  ) -> [ParameterDescription] {
    [
      ParameterDescription(
        "radius", .length, default: .number(radius), slider: 0 ... 100, limits: 0 ... 1024,
        unit: .pixels, "The standard deviation of the blur."),
      ParameterDescription(
        "intensity", .number, default: .number(0.5), slider: 0 ... 1, limits: limits, summary),
      Border.parameter,
    ]
  }
}

extension BlurredMixFilter {
  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let sigma = min(self.arguments.length("radius").pixels(in: geometry.size), 1024)
    let intensity = self.arguments.number("intensity")
    guard sigma >= GaussianBlurOperation.minSigma, intensity != 0 else { return [] }
    let operation = BlurredMixOperation(
      sigma: sigma, up: intensity * Self.weights.up, down: intensity * Self.weights.down)
    return Border(self.arguments).nodes(for: geometry) { _, _ in
      [FilterNode(.neighborhood(operation))]
    }
  }
}

/// A mix of pixels with their blurred neighbourhoods, with one weight where the neighbourhood is
/// brighter and another where it is darker: in + up * max(0, d) + down * min(0, d), d = blur(in) -
/// in.
///
/// With equal weights the operation is linear (an unsharp mask if they are negative) and works on
/// every plane. With different weights, d is computed per channel in RGB and grey formats. In YUV
/// formats luma determines the weight, and chroma moves by the same weight times its own
/// difference, reduced in proportion where luma differs by less than ``ramp``. Alpha is a channel
/// like the others, limited to 0 ... 1.
package struct BlurredMixOperation: NeighborhoodOperation {
  /// The Gaussian's standard deviation in pixels.
  package let sigma: Double
  /// The weight where the neighbourhood is brighter.
  package let up: Double
  /// The weight where the neighbourhood is darker.
  package let down: Double

  /// The maximum standard deviation in pixels for which the blur is computed exactly and not on a
  /// reduced picture.
  package static let maxExactSigma = 4.8
  /// The difference of luma, in levels, at which chroma moves by the full weight.
  package static let ramp = 16.0

  package var isLinear: Bool { self.up == self.down }

  package var limitsLast: Bool { true }

  package func spread(in geometry: FrameGeometry) -> Double? {
    ContentSpread.gaussian(sigma: self.sigma)
  }

  package var summary: String {
    if self.isLinear { return "unsharp mask of sigma \(self.sigma)" }
    let condition = self.up > 0 ? "brighter" : "darker"
    return "mixed with a Gaussian of sigma \(self.sigma) where that is \(condition)"
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
    self.isLinear && self.sigma <= Self.maxExactSigma
      ? UnsharpPass(setting: setting, operation: self)
      : BlurredMixPass(setting: setting, operation: self)
  }
}

/// A pass that writes a Gaussian blur to a separate picture, and then mixes pixels with it.
package struct BlurredMixPass: OperationPass {
  package let setting: PassSetting
  let operation: BlurredMixOperation

  package func run(_ context: PassContext) async {
    let blurred = Raster(layout: context.output.layout, depth: .deep, pool: context.pool)
    let blur = GaussianBlurPass(setting: self.setting, sigma: self.operation.sigma)
    await blur.run(
      context.replacing(inputs: context.inputs, output: blurred))
    await self.mix(context, blurred)
  }

  private func mix(_ context: PassContext, _ blurred: Raster) async {
    let source = context.inputs[0].view
    let blurred = blurred.view
    let operation = self.operation
    for shape in PlaneShape.planes(source.format, source.size) {
      let writer = LimitedRowWriter(context, shape, self.setting)
      let followsLuma = shape.scale < 1 && !operation.isLinear
      await context.bands.run(
        rows: shape.height, nanoseconds: Double(shape.samples * shape.height) * 0.2
      ) { band in
        if followsLuma {
          Self.mixChroma(band, source, blurred, shape, operation, writer)
        } else {
          Self.mixSamples(band, source, blurred, shape, operation, writer)
        }
      }
    }
  }

  private static func mixSamples(
    _ band: Range<Int>, _ source: RasterView, _ blurred: RasterView, _ shape: PlaneShape,
    _ operation: BlurredMixOperation, _ writer: LimitedRowWriter
  ) {
    let rows = unsafe sl_rows_current().pointee
    let memory = SampleMemory(count: shape.samples + 64)
    let result = unsafe memory[0]
    let mixRow = unsafe source.depth == .eight ? rows.mix_blurred_u8 : rows.mix_blurred_i16
    for y in band {
      unsafe mixRow(
        source.row(y, plane: shape.plane), blurred.samples(y, shape.plane), 1 / 32,
        Float(operation.up), Float(operation.down), shape.samples, result)
      unsafe writer.write(result, y: y, rows)
    }
  }

  /// Mixes the rows of a chroma plane by weights that depend on luma.
  private static func mixChroma(
    _ band: Range<Int>, _ source: RasterView, _ blurred: RasterView, _ shape: PlaneShape,
    _ operation: BlurredMixOperation, _ writer: LimitedRowWriter
  ) {
    let rows = unsafe sl_rows_current().pointee
    let isEightBit = source.depth == .eight
    let mixRow = unsafe isEightBit ? rows.mix_blurred_chroma_u8 : rows.mix_blurred_chroma_i16
    let memory = SampleMemory(count: shape.samples + 64)
    let result = unsafe memory[0]
    let (width, lastRow) = (source.size.width, source.size.height - 1)
    for y in band {
      let lower = min(2 * y + 1, lastRow)
      let luma = unsafe (
        source.row(2 * y), source.row(lower), blurred.samples(2 * y, 0), blurred.samples(lower, 0)
      )
      unsafe mixRow(
        luma.0, luma.1, luma.2, luma.3, width, source.row(y, plane: shape.plane),
        blurred.samples(y, shape.plane), shape.step, Float(operation.up), Float(operation.down),
        Float(BlurredMixOperation.ramp), result)
      unsafe writer.write(result, y: y, rows)
    }
  }
}

extension RasterView {
  /// The first sample of a row of a deep picture.
  func samples(_ row: Int, _ plane: Int) -> UnsafeMutablePointer<Int16> {
    unsafe self.row(row, plane: plane).assumingMemoryBound(to: Int16.self)
  }
}
