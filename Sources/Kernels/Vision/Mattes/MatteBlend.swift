import CKernels

/// The blend of a picture and a backdrop by a guided matte.
///
/// Alpha is the smoothstep from `low` to `high` of the guided filter's model of the pixel's colour.
/// A colour c becomes clamp(c' - (1 - alpha) r, 0, 255 alpha) + (1 - alpha) o: c' is c without its
/// spill, r the rest of the key colour, and o the backdrop. Where alpha c' is beyond 0 ... 255
/// alpha, as colours between passes may be, it is the bound. YUV formats are blended plane by
/// plane: luma above black, chroma about grey, by the mean alpha of the pixels that share it.
/// Colour is premultiplied, and alpha a becomes a alpha + (1 - a alpha) oa.
package struct MatteBlend: Sendable {
  /// The values of the model between which alpha rises from 0 to 1.
  static let low = 0.15
  static let high = 0.85

  let setting: PassSetting
  let reduction: FrameReduction
  let spill: KeySpill
  let backdrop: MatteBackdrop
  private let matrix: [Float]
  private let pixelKey: sl_key_blend
  private let yuvKey: sl_key_blend_yuv

  init(
    _ setting: PassSetting, _ reduction: FrameReduction, _ spill: KeySpill,
    _ backdrop: MatteBackdrop
  ) {
    self.setting = setting
    self.reduction = reduction
    self.spill = spill
    self.backdrop = backdrop
    let geometry = setting.geometry
    let coding = MatteCoding(geometry)
    self.matrix = coding.matrix.flatMap { $0.map(Float.init) }
    let order = PixelOrder.colors(of: geometry.format) ?? [0, 1, 2]
    func residue(_ place: Int) -> Float { Float(255 * spill.residue[order[place]]) }
    self.pixelKey = sl_key_blend(
      channel: Int32(spill.channel.flatMap { order.firstIndex(of: $0) } ?? -1),
      spill: Float(spill.amount), residue: (residue(0), residue(1), residue(2)))
    let removal = coding.removal(of: spill)
    self.yuvKey = sl_key_blend_yuv(
      first: (Float(removal.differences[0].x), Float(removal.differences[0].y)),
      second: (Float(removal.differences[1].x), Float(removal.differences[1].y)),
      gains: (Float(removal.gains.x), Float(removal.gains.y), Float(removal.gains.z)),
      residue: (Float(removal.residue.x), Float(removal.residue.y), Float(removal.residue.z)),
      luma_offset: Float(coding.lumaOffset), luma_range: Float(coding.lumaRange),
      chroma_range: Float(coding.chromaRange))
  }

  /// Blends all rows. The output may be the memory of the input.
  func run(_ context: PassContext, _ models: FloatPlanes) async {
    let source = context.inputs[0].view
    let destination = context.output.view
    let isYUV = source.format.isYUV
    await context.bands.run(
      rows: source.size.height, alignment: isYUV ? 2 : 1,
      nanoseconds: Double(source.size.pixelCount) * 1.5
    ) { band in
      let run = MatteRows(self, models)
      switch source.format {
      case .i420, .nv12: self.blendYUV(band, source, destination, run)
      case .gray8: self.blendGray(band, source, destination, run)
      case .bgra8, .rgba8, .rgb24: self.blendPixels(band, source, destination, run)
      }
    }
  }

  private func blendPixels(
    _ band: Range<Int>, _ source: RasterView, _ destination: RasterView, _ run: MatteRows
  ) {
    let rows = unsafe sl_rows_current().pointee
    let shape = PlaneShape.planes(source.format, source.size)[0]
    let isDeep = source.depth == .deep
    let hasAlpha = shape.step == 4 && !self.setting.keepsFourthChannel
    let limits =
      hasAlpha && self.setting.geometry.color.alpha == .premultiplied && destination.depth == .eight
    var key = self.pixelKey
    let blend = unsafe isDeep ? rows.blend_pixels_i16 : rows.blend_pixels_u8
    let matte = unsafe isDeep ? rows.matte_pixels_i16 : rows.matte_pixels_u8
    let output = DepthWriter(source, destination, shape)
    for y in band {
      let input = unsafe source.row(y)
      unsafe run.withModels(y) { models in
        unsafe matte(input, shape.step, &models, shape.width, run.alpha(0))
      }
      unsafe output.write(y, rows) { row in
        unsafe blend(
          input, shape.step, run.alpha(0), self.backdrop.row(y, plane: 0), self.backdrop.stride,
          &key, hasAlpha ? 1 : 0, shape.width, row)
      }
      if limits { unsafe rows.limit_to_alpha_u8(destination.row(y), shape.width) }
    }
  }

  private func blendGray(
    _ band: Range<Int>, _ source: RasterView, _ destination: RasterView, _ run: MatteRows
  ) {
    let rows = unsafe sl_rows_current().pointee
    let shape = PlaneShape.planes(source.format, source.size)[0]
    let isDeep = source.depth == .deep
    var key = self.yuvKey
    let blend = unsafe isDeep ? rows.blend_luma_i16 : rows.blend_luma_u8
    let matte = unsafe isDeep ? rows.matte_yuv_i16 : rows.matte_yuv_u8
    let output = DepthWriter(source, destination, shape)
    for y in band {
      let input = unsafe source.row(y)
      unsafe run.withModels(y) { models in
        unsafe matte(input, run.cb, run.cr, &models, shape.width, run.alpha(0))
      }
      unsafe output.write(y, rows) { row in
        unsafe blend(
          input, run.alpha(0), run.excess, self.backdrop.row(y, plane: 0), &key, shape.width, row)
      }
    }
  }

  private func blendYUV(
    _ band: Range<Int>, _ source: RasterView, _ destination: RasterView, _ run: MatteRows
  ) {
    let rows = unsafe sl_rows_current().pointee
    let shapes = PlaneShape.planes(source.format, source.size)
    let (luma, chroma) = (shapes[0], shapes[1])
    let isDeep = source.depth == .deep
    var key = self.yuvKey
    let matte = unsafe isDeep ? rows.matte_yuv_i16 : rows.matte_yuv_u8
    let readChroma = unsafe isDeep ? rows.key_chroma_i16 : rows.key_chroma_u8
    let blendLuma = unsafe isDeep ? rows.blend_luma_i16 : rows.blend_luma_u8
    let blendChroma = unsafe isDeep ? rows.blend_chroma_i16 : rows.blend_chroma_u8
    let lumaOutput = DepthWriter(source, destination, luma)
    let chromaOutputs = shapes.dropFirst().map { DepthWriter(source, destination, $0) }
    let sample = source.depth.byteCount
    for y in stride(from: band.lowerBound, to: band.upperBound, by: 2) {
      let u = unsafe source.row(y / 2, plane: 1)
      let v = unsafe chroma.step == 2 ? u + sample : source.row(y / 2, plane: 2)
      let count = min(2, band.upperBound - y)
      unsafe readChroma(u, v, chroma.step, &key, chroma.width, run.cb, run.cr, run.excess)
      for row in 0 ..< count {
        let input = unsafe source.row(y + row)
        unsafe run.withModels(y + row) { models in
          unsafe matte(input, run.cb, run.cr, &models, luma.width, run.alpha(row))
        }
        unsafe lumaOutput.write(y + row, rows) { output in
          unsafe blendLuma(
            input, run.alpha(row), run.excess, self.backdrop.row(y + row, plane: 0), &key,
            luma.width, output)
        }
      }
      unsafe rows.mean_alpha(run.alpha(0), run.alpha(count - 1), luma.width, run.mean)
      let behind = unsafe self.backdrop.row(y / 2, plane: 1)
      if chroma.step == 2 {
        unsafe chromaOutputs[0].write(y / 2, rows) { row in
          unsafe blendChroma(
            u, v, 2, run.mean, run.excess, behind, behind + 1, &key, chroma.width, row,
            row + sample)
        }
      } else {
        unsafe chromaOutputs[0].write(y / 2, rows) { first in
          unsafe chromaOutputs[1].write(y / 2, rows) { second in
            unsafe blendChroma(
              u, v, 1, run.mean, run.excess, behind, self.backdrop.row(y / 2, plane: 2), &key,
              chroma.width, first, second)
          }
        }
      }
    }
  }

  /// The models of a row of pixels, expanded to the frame's width, and rows of alpha. Owned by one
  /// band.
  @safe
  fileprivate final class MatteRows {
    private let blend: MatteBlend
    private let models: FloatPlanes
    private let memory: FloatMemory
    private let stride: Int
    /// The models that are expanded in each of two places.
    private var held = [-1, -1]

    init(_ blend: MatteBlend, _ models: FloatPlanes) {
      self.blend = blend
      self.models = models
      self.stride = (models.width * blend.reduction.factor + 4 + 15) & ~15
      self.memory = FloatMemory(count: 14 * self.stride)
    }

    /// Alpha of one of two rows.
    func alpha(_ row: Int) -> UnsafeMutablePointer<Float> {
      unsafe self.memory[(8 + row) * self.stride]
    }
    /// The mean alpha of chroma samples.
    var mean: UnsafeMutablePointer<Float> { unsafe self.memory[10 * self.stride] }
    /// The excess of the key's channel.
    var excess: UnsafeMutablePointer<Float> { unsafe self.memory[11 * self.stride] }

    /// Chroma above grey, for each pixel; 0 in grey formats.
    var cb: UnsafeMutablePointer<Float> { unsafe self.memory[12 * self.stride] }
    var cr: UnsafeMutablePointer<Float> { unsafe self.memory[13 * self.stride] }

    /// Calls `body` with the models above and below a row of pixels.
    func withModels(_ y: Int, _ body: (inout sl_matte) -> Void) {
      let place = MatteBlend.place(y, self.blend.reduction.factor, self.models.height)
      var matte = unsafe sl_matte(
        upper: self.expanded(place.cell), lower: self.expanded(place.next), stride: self.stride,
        fraction: Float(place.fraction), low: Float(MatteBlend.low),
        slope: Float(1 / (MatteBlend.high - MatteBlend.low)))
      unsafe body(&matte)
    }

    private func expanded(_ row: Int) -> UnsafePointer<Float> {
      let out = unsafe self.memory[row % 2 * 4 * self.stride]
      if self.held[row % 2] != row {
        self.held[row % 2] = row
        unsafe sl_rows_current().pointee.guided_expand(
          self.models.row(row), self.models.stride, self.models.width, self.blend.matrix,
          self.blend.reduction.factor, out, self.stride)
      }
      return unsafe UnsafePointer(out)
    }
  }

  /// The two cells between whose centres a pixel lies, along one axis, and the weight of the
  /// second.
  static func place(
    _ pixel: Int, _ factor: Int, _ count: Int
  ) -> (cell: Int, next: Int, fraction: Double) {
    let place = min(max((Double(pixel) + 0.5) / Double(factor) - 0.5, 0), Double(count - 1))
    let cell = Int(place)
    return (cell, min(cell + 1, count - 1), place - Double(cell))
  }
}

/// A writer of rows that are computed in the depth of the input: into the output if it has that
/// depth, otherwise through scratch memory.
@safe
private final class DepthWriter {
  private let source: SampleDepth
  private let destination: RasterView
  private let shape: PlaneShape
  private let scratch: SampleMemory

  init(_ source: RasterView, _ destination: RasterView, _ shape: PlaneShape) {
    self.source = source.depth
    self.destination = destination
    self.shape = shape
    self.scratch = SampleMemory(count: shape.samples)
  }

  func write(_ y: Int, _ rows: sl_rows, _ body: (UnsafeMutableRawPointer) -> Void) {
    let output = unsafe self.destination.row(y, plane: self.shape.plane)
    guard self.source != self.destination.depth else { return unsafe body(output) }
    let row = unsafe UnsafeMutableRawPointer(self.scratch[0])
    unsafe body(row)
    unsafe SampleCopy.copy(
      row, self.source, output, self.destination.depth, count: self.shape.samples, rows)
  }
}
