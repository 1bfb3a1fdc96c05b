import CKernels

/// A change of the detail of a picture: the difference between its luma and a smooth version that
/// keeps edges, scaled and added to all channels, which keeps hues unchanged.
///
/// The smooth luma is the result of the colour guided filter with the picture as its own guide
/// (``GuidedFilter``): in flat parts it is the mean of the surroundings, at edges the luma itself.
/// The detail d is scaled by `gain * d^2 / (d^2 + coring^2)`, which does not amplify noise smaller
/// than `coring`, and bounded. In pictures with alpha it is multiplied by alpha.
package struct GuidedDetailOperation: NeighborhoodOperation {
  /// The factor of the detail; -1 removes it.
  package let gain: Double
  /// The detail that is scaled by half of the gain, in units of white; 0 disables coring.
  package var coring = 0.0
  /// The maximum change, in units of white.
  package var limit = 1.0
  /// Whether only colours of skin change.
  package var isSkinOnly = false
  /// The filter of the smooth version.
  package let guided: GuidedFilter

  package var limitsLast: Bool { true }

  package func spread(in geometry: FrameGeometry) -> Double? { self.guided.spread(in: geometry) }

  package var summary: String {
    "detail below an edge-preserving smoothing of \(self.guided.radius) cells, times \(self.gain)"
      + (self.isSkinOnly ? ", in colours of skin" : "")
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
    GuidedDetailPass(setting: setting, operation: self)
  }

  /// The nodes in a working space: the operation works on gamma-encoded colour. Without gain there
  /// are none.
  package func nodes(in space: WorkingSpace) -> [FilterNode] {
    guard self.gain != 0 else { return [] }
    let node = FilterNode(.neighborhood(self))
    return space == .sRGBGamma ? [node] : [.curve(.encoded), node, .curve(.linearized)]
  }

  /// Greater than 0, to keep the quotient finite for a detail of 0.
  package var squaredCoring: Double { max(self.coring * self.coring, 1e-12) }
}

/// The likelihood of skin, from chroma: clamp(1.5 - q, 0, 1), q the squared distance from the centre
/// in half axes. The ellipse in Cb and Cr holds skin of every shade (after Chai and Ngan 1999).
package enum SkinColor {
  /// The centre in units of white.
  package static let center = SIMD2(-0.1, 0.098)
  /// The half axes in units of white.
  package static let axes = SIMD2(0.1, 0.078)
}

/// Reduces a picture, computes the models of its smooth luma, and changes the detail of pixels.
package struct GuidedDetailPass: OperationPass {
  package let setting: PassSetting
  package let operation: GuidedDetailOperation

  /// The weights of red, green and blue in luma (BT.601), the same as in `guide_luma`.
  package static let luma = SIMD3(0.299, 0.587, 0.114)

  /// Cb and Cr of a colour in units of white (BT.601).
  package static func chroma(_ color: SIMD3<Double>) -> SIMD2<Double> {
    let y = (color * Self.luma).sum()
    return [(color.z - y) / 1.772, (color.x - y) / 1.402]
  }

  package func run(_ context: PassContext) async {
    let geometry = self.setting.geometry
    let reduction = FrameReduction(geometry)
    let size = reduction.size
    let guide = GuidePlanes.guide(size, pool: context.pool)
    let source = context.inputs[0].view
    await context.bands.run(
      rows: size.height, nanoseconds: Double(source.size.pixelCount) * 0.3
    ) { band in
      reduction.run(band, from: source, to: guide)
      let rows = unsafe sl_rows_current().pointee
      for y in band {
        let out = unsafe guide.row(y, plane: GuidePlanes.mattePlane)
        unsafe rows.guide_luma(guide.row(y), guide.stride, guide.width, out)
        // Sums of products of whole numbers are exact.
        for x in 0 ..< guide.width { unsafe out[x] = (out[x] + 128).rounded() }
      }
    }
    let models = FloatPlanes(width: size.width, height: size.height, planes: 4, pool: context.pool)
    let guided = self.operation.guided
    await context.bands.run(
      rows: size.height, alignment: 16, nanoseconds: Double(size.pixelCount) * 15
    ) { band in
      guided.run(band, guide, to: models)
      Self.subtractFromLuma(band, models)
    }
    await self.change(context, models, factor: reduction.factor)
    for shape in PlaneShape.planes(source.format, source.size).dropFirst() {
      await PlaneCopy(shape: shape).run(context)
    }
  }

  /// Replaces models of the smooth luma by models of the detail, which is luma minus smooth luma.
  private static func subtractFromLuma(_ band: Range<Int>, _ models: FloatPlanes) {
    for y in band {
      // Luma is the weighted sum of the colours less 128, plus 128.
      let terms = [Float(Self.luma.x), Float(Self.luma.y), Float(Self.luma.z), 128]
      for (plane, term) in terms.enumerated() {
        let row = unsafe models.row(y, plane: plane)
        for x in 0 ..< models.width { unsafe row[x] = term - row[x] }
      }
    }
  }

  private func change(_ context: PassContext, _ models: FloatPlanes, factor: Int) async {
    let source = context.inputs[0].view
    let geometry = self.setting.geometry
    let coding = MatteCoding(geometry)
    let matrix = coding.matrix.flatMap { $0.map(Float.init) }
    let shape = PlaneShape.planes(source.format, source.size)[0]
    let writer = LimitedRowWriter(context, shape, self.setting, keepsAlpha: true)
    let (operation, weights) = (self.operation, self.chromaWeights)
    let hasAlpha = shape.step == 4 && !self.setting.keepsFourthChannel
    let range = Float(coding.lumaRange)
    await context.bands.run(
      rows: shape.height, nanoseconds: Double(source.size.pixelCount) * 0.8
    ) { band in
      let rows = unsafe sl_rows_current().pointee
      let isDeep = source.depth == .deep
      let expanded = ExpandedRows(models, factor: factor, matrix: matrix)
      let result = SampleMemory(count: shape.samples + 64)
      let chroma = ChromaLevels(source)
      for y in band {
        var detail = unsafe operation.row(expanded.rows(about: Double(y)), weights)
        let out = unsafe result[0]
        if shape.step >= 3 {
          let row = unsafe isDeep ? rows.detail_pixels_i16 : rows.detail_pixels_u8
          unsafe row(source.row(y), shape.step, &detail, hasAlpha ? 1 : 0, shape.width, out)
        } else {
          let row = unsafe isDeep ? rows.detail_luma_i16 : rows.detail_luma_u8
          let (cb, cr) = unsafe chroma.rows(y)
          unsafe row(source.row(y), cb, cr, &detail, range, shape.width, out)
        }
        unsafe writer.write(out, y: y, rows)
      }
    }
  }

  /// The weights of a pixel's three channels in Cb, then in Cr; 0 in grey formats.
  private var chromaWeights: [Float] {
    let geometry = self.setting.geometry
    let colors: [SIMD3<Double>]
    switch geometry.format {
    case .i420, .nv12:
      let coding = YUVCoding(geometry.color)
      let grey = coding.decode(0, 128, 128)
      colors =
        [.zero]
        + [coding.decode(0, 129, 128), coding.decode(0, 128, 129)].map {
          let difference = $0 - grey
          return [difference.x, difference.y, difference.z]
        }
    case .bgra8: colors = [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    case .rgba8, .rgb24: colors = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    case .gray8: colors = [.zero, .zero, .zero]
    }
    return (0 ..< 2).flatMap { component in
      colors.map { Float(Self.chroma($0)[component]) }
    }
  }
}

extension GuidedDetailOperation {
  /// Returns the argument of a C row.
  ///
  /// - Parameters:
  ///   - models: The models around the row.
  ///   - weights: The weights of three channels in Cb, then in Cr.
  fileprivate func row(
    _ models: ExpandedRows.Pair, _ weights: [Float]
  ) -> sl_detail {
    unsafe sl_detail(
      upper: models.upper, lower: models.lower, stride: models.stride, fraction: models.fraction,
      gain: Float(self.gain), coring: Float(self.squaredCoring), limit: Float(self.limit),
      is_skin: self.isSkinOnly ? 1 : 0, cb: (weights[0], weights[1], weights[2]),
      cr: (weights[3], weights[4], weights[5]),
      skin_center: (Float(SkinColor.center.x), Float(SkinColor.center.y)),
      skin_scale: (Float(1 / SkinColor.axes.x), Float(1 / SkinColor.axes.y)))
  }
}

/// Cb and Cr above grey in levels, per pixel of a row; 0 in grey formats. Owned by one band.
@safe
private final class ChromaLevels {
  private let source: RasterView
  private let memory: FloatMemory
  private let stride: Int
  /// The row of chroma that is held.
  private var held = -1

  init(_ source: RasterView) {
    self.source = source
    self.stride = (source.size.width + 2 + 15) & ~15
    self.memory = FloatMemory(
      count: source.format.isYUV || source.format == .gray8 ? 3 * self.stride : 0)
  }

  /// Returns the rows of a row of pixels. They are valid until the next call.
  func rows(_ y: Int) -> (cb: UnsafeMutablePointer<Float>, cr: UnsafeMutablePointer<Float>) {
    let (cb, cr) = unsafe (self.memory[0], self.memory[self.stride])
    guard self.source.format.isYUV, self.held != y / 2 else { return unsafe (cb, cr) }
    self.held = y / 2
    let shape = PlaneShape.planes(self.source.format, self.source.size)[1]
    let u = unsafe self.source.row(y / 2, plane: 1)
    let v =
      unsafe shape.step == 2
      ? u + self.source.depth.byteCount : self.source.row(y / 2, plane: 2)
    let rows = unsafe sl_rows_current().pointee
    let read = unsafe self.source.depth == .deep ? rows.key_chroma_i16 : rows.key_chroma_u8
    var key = sl_key_blend_yuv()
    unsafe read(u, v, shape.step, &key, shape.width, cb, cr, self.memory[2 * self.stride])
    return unsafe (cb, cr)
  }
}
