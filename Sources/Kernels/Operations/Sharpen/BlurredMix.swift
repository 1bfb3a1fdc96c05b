import CKernels

/// A mix of each pixel with its blurred neighbourhood, with one weight where the neighbourhood is
/// brighter and another where it is darker: in + up * max(0, d) + down * min(0, d), d = blur(in) -
/// in.
///
/// With equal weights the operation is linear (an unsharp mask if they are negative) and works on
/// every plane. With different weights, d is that of each channel in RGB and grey formats. In YUV
/// formats luma decides, and chroma moves by the same weight times its own difference, reduced in
/// proportion where luma differs by less than ``ramp``. Alpha is a channel like the others, limited
/// to 0 ... 1.
struct BlurredMixOperation: NeighborhoodOperation {
  /// The Gaussian's standard deviation in pixels.
  let sigma: Double
  /// The weight where the neighbourhood is brighter.
  let up: Double
  /// The weight where the neighbourhood is darker.
  let down: Double

  /// The greatest standard deviation for which the blur is computed exactly and not on a reduced
  /// picture.
  static let greatestExactSigma = 4.8
  /// The difference of luma, in levels, at which chroma moves by the full weight.
  static let ramp = 16.0

  /// Whether the result is linear in the picture.
  var isLinear: Bool { self.up == self.down }

  var limitsLast: Bool { true }

  var words: String {
    if self.isLinear { return "unsharp mask of sigma \(self.sigma)" }
    let goal = self.up > 0 ? "brighter" : "darker"
    return "mixed with a Gaussian of sigma \(self.sigma) where that is \(goal)"
  }

  func makePass(_ setting: PassSetting) -> any Pass {
    self.isLinear && self.sigma <= Self.greatestExactSigma
      ? UnsharpPass(setting, self) : BlurredMixPass(setting, self)
  }

  func reference(
    _ planes: [ReferencePlane], of geometry: FrameGeometry
  ) -> [ReferencePlane] {
    let blurred = GaussianBlurOperation(sigma: self.sigma).reference(planes, of: geometry)
    return planes.indices.map { index in
      let (plane, blur) = (planes[index], blurred[index])
      return plane.map { x, y, channel in
        let value = plane[x, y, channel]
        let difference = blur[x, y, channel] - value
        guard plane.scale < 1, !self.isLinear else {
          return value + difference * (difference > 0 ? self.up : self.down)
        }
        // The mean luma difference of the pixels that share the sample.
        let luma = [(0, 0), (1, 0), (0, 1), (1, 1)].reduce(0.0) { sum, offset in
          let (lumaX, lumaY) = (2 * x + offset.0, 2 * y + offset.1)
          return sum + (blurred[0][lumaX, lumaY, 0] - planes[0][lumaX, lumaY, 0]) / 4
        }
        let share = min(abs(luma) / Self.ramp, 1) * (luma > 0 ? self.up : self.down)
        return value + difference * share
      }.boundedByAlpha(of: geometry)
    }
  }
}

/// A pass that writes a Gaussian blur to a separate picture, and then mixes each pixel with it.
package struct BlurredMixPass: Pass {
  package let description: PassDescription
  private let operation: BlurredMixOperation
  private let setting: PassSetting

  init(_ setting: PassSetting, _ operation: BlurredMixOperation) {
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
      let finish = LimitedRowWriter(context, shape, self.setting)
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
    _ operation: BlurredMixOperation, _ finish: LimitedRowWriter
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

  /// Mixes the rows of a chroma plane by weights that depend on luma.
  private static func follow(
    _ band: Range<Int>, _ source: RasterView, _ blurred: RasterView, _ shape: PlaneShape,
    _ operation: BlurredMixOperation, _ finish: LimitedRowWriter
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
        Float(BlurredMixOperation.ramp), result)
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
