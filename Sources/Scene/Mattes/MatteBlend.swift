import CKernels
import SidelightKernels

/// The values of a guided matte between which alpha rises from 0 to 1, as a smoothstep.
package struct MatteEdges: Sendable, Hashable {
  package let low, high: Double

  package static let standard = MatteEdges(low: 0.15, high: 0.85)

  init(low: Double, high: Double) {
    (self.low, self.high) = (low, high)
  }

  /// Edges further outside, down to .02 ... .4 at 0, or further inside, up to .6 ... .98 at 1; .5
  /// is ``standard``. A matte of 0 has the alpha 0 and one of 1 the alpha 1 at every position.
  package init(position: Double) {
    let (outer, inner) = (MatteEdges(low: 0.02, high: 0.4), MatteEdges(low: 0.6, high: 0.98))
    let (from, to, share) =
      position < 0.5
      ? (outer, Self.standard, 2 * position) : (Self.standard, inner, 2 * position - 1)
    self.low = from.low + (to.low - from.low) * share
    self.high = from.high + (to.high - from.high) * share
  }

  /// Returns the alpha of a value.
  package func callAsFunction(_ value: Double) -> Double {
    let t = min(max((value - self.low) / (self.high - self.low), 0), 1)
    return t * t * (3 - 2 * t)
  }
}

/// The blend of a picture and a backdrop using a guided matte.
///
/// Alpha is the smoothstep (``MatteEdges``) of the guided filter's model of the pixel's colour. A
/// colour c becomes clamp(c' - (1 - alpha) r, 0, 255 alpha) + (1 - alpha) o: c' is c without its
/// spill, r the rest of the key colour, and o the backdrop. Where alpha c' is beyond 0 ... 255
/// alpha, as colours between passes may be, it is the bound. YUV formats are blended plane by
/// plane: luma above black, chroma about grey, using the mean alpha of the pixels that share it.
/// Colour is premultiplied, and alpha a becomes a alpha + (1 - a alpha) oa. Without a key
/// (``KeySpill/isPlain``) a colour becomes alpha c + (1 - alpha) o.
///
/// Deep pictures with alpha are premultiplied. Frames of bytes may also have straight alpha; their
/// rows are premultiplied for the blend, and pixels that hide the background keep their samples.
package struct MatteBlend: Sendable {
  let setting: PassSetting
  let reduction: FrameReduction
  let spill: KeySpill
  let edges: MatteEdges
  /// Whether the backdrop replaces a picture's alpha too, instead of showing through it.
  let mixesAlpha: Bool
  /// Whether an ignored fourth channel becomes 255, because it could show hidden content.
  private let setsOpaque: Bool
  private let matrix: [Float]
  private let pixelKey: sl_key_blend
  private let yuvKey: sl_key_blend_yuv

  init(
    _ setting: PassSetting, _ reduction: FrameReduction, _ spill: KeySpill,
    edges: MatteEdges = .standard, mixesAlpha: Bool = false, protects: Bool = false
  ) {
    self.setting = setting
    self.reduction = reduction
    self.spill = spill
    self.edges = edges
    self.mixesAlpha = mixesAlpha
    self.setsOpaque = protects && setting.keepsFourthChannel
    let geometry = setting.geometry
    let coding = MatteCoding(geometry)
    self.matrix = coding.matrix.flatMap { $0.map(Float.init) }
    let order = PixelOrder.colors(of: geometry.format) ?? [0, 1, 2]
    func residue(_ place: Int) -> Float { Float(255 * spill.residue[order[place]]) }
    self.pixelKey = sl_key_blend(
      channel: Int32(spill.channel.flatMap { order.firstIndex(of: $0) } ?? -1),
      spill: Float(spill.amount), residue: (residue(0), residue(1), residue(2)),
      is_plain: spill.isPlain ? 1 : 0)
    let removal = coding.removal(of: spill)
    self.yuvKey = sl_key_blend_yuv(
      first: (Float(removal.differences[0].x), Float(removal.differences[0].y)),
      second: (Float(removal.differences[1].x), Float(removal.differences[1].y)),
      gains: (Float(removal.gains.x), Float(removal.gains.y), Float(removal.gains.z)),
      residue: (Float(removal.residue.x), Float(removal.residue.y), Float(removal.residue.z)),
      luma_offset: Float(coding.lumaOffset), luma_range: Float(coding.lumaRange),
      chroma_range: Float(coding.chromaRange), is_plain: spill.isPlain ? 1 : 0)
  }

  /// Blends all rows. The output may be the memory of the input.
  ///
  /// - Parameters:
  ///   - context: The context of the pass.
  ///   - models: The guided filter's models.
  ///   - backdrop: The picture behind.
  ///   - light: Light of the backdrop on the foreground's edges.
  func run(
    _ context: PassContext, _ models: FloatPlanes, over backdrop: any MatteBackground,
    light: EdgeLight? = nil
  ) async {
    let source = context.inputs[0].view
    let destination = context.output.view
    let isYUV = source.format.isYUV
    await context.bands.run(
      rows: source.size.height, alignment: isYUV ? 2 : 1,
      nanoseconds: Double(source.size.pixelCount) * 1.5
    ) { band in
      let run = MatteRows(self, models, backdrop.makeRows(), light)
      switch source.format {
      case .i420, .nv12: self.blendYUV(band, source, destination, run)
      case .gray8: self.blendGray(band, source, destination, run)
      case .bgra8, .rgba8, .rgb24:
        if source.depth == .eight, self.setting.geometry.alpha == .straight {
          self.blendStraightPixels(band, source, destination, run)
        } else {
          self.blendPixels(band, source, destination, run)
        }
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
    let alphaMode: Int32 = hasAlpha ? self.mixesAlpha ? 2 : 1 : 0
    let output = DepthWriter(source, destination, shape)
    for y in band {
      let input = unsafe source.row(y)
      unsafe run.withModels(y) { models in
        unsafe matte(input, shape.step, &models, shape.width, run.alpha(0))
      }
      unsafe output.write(y, rows) { row in
        unsafe blend(
          input, shape.step, run.alpha(0), run.backdrop.row(y, plane: 0), run.backdrop.stride,
          &key, alphaMode, shape.width, row)
        unsafe run.light?.addPixels(y, to: row, run.alpha(0), step: shape.step, isDeep: isDeep)
      }
      if limits { unsafe rows.limit_to_alpha_u8(destination.row(y), shape.width) }
      if self.setsOpaque, destination.depth == .eight {
        unsafe rows.set_opaque(
          destination.row(y).assumingMemoryBound(to: UInt8.self), shape.width)
      }
    }
  }

  /// Frames of bytes with straight alpha.
  private func blendStraightPixels(
    _ band: Range<Int>, _ source: RasterView, _ destination: RasterView, _ run: MatteRows
  ) {
    let rows = unsafe sl_rows_current().pointee
    let shape = PlaneShape.planes(source.format, source.size)[0]
    let scratch = SampleMemory(count: shape.samples)
    var key = self.pixelKey
    for y in band {
      let input = unsafe source.row(y)
      let output = unsafe destination.row(y).assumingMemoryBound(to: UInt8.self)
      let samples = unsafe UnsafePointer(input.assumingMemoryBound(to: UInt8.self))
      let (alpha, deep) = unsafe (run.alpha(0), scratch[0])
      unsafe run.withModels(y) { models in
        unsafe rows.matte_pixels_u8(input, 4, &models, shape.width, alpha)
      }
      for x in 0 ..< shape.width {
        let opacity = unsafe Float(samples[4 * x + 3])
        for channel in 4 * x ..< 4 * x + 3 {
          unsafe deep[channel] = Int16(Float(samples[channel]) * opacity * (32 / 255) + 0.5)
        }
        unsafe deep[4 * x + 3] = Int16(opacity * 32)
      }
      unsafe rows.blend_pixels_i16(
        deep, 4, alpha, run.backdrop.row(y, plane: 0), run.backdrop.stride, &key,
        self.mixesAlpha ? 2 : 1, shape.width, deep)
      let isLit =
        unsafe run.light?.addPixels(y, to: deep, alpha, step: shape.step, isDeep: true) ?? false
      for x in 0 ..< shape.width {
        // Elsewhere the background shows through pixels that are not opaque.
        let keeps = unsafe alpha[x] >= 1 && (self.mixesAlpha || samples[4 * x + 3] == 255)
        guard isLit || !keeps else {
          for channel in 4 * x ..< 4 * x + 4 { unsafe output[channel] = samples[channel] }
          continue
        }
        let opacity = unsafe Float(deep[4 * x + 3])
        let scale = opacity > 0 ? 255 / opacity : 0
        for channel in 4 * x ..< 4 * x + 3 {
          let level = unsafe Float(deep[channel]) * scale + 0.5
          unsafe output[channel] = UInt8(min(max(level, 0), 255))
        }
        unsafe output[4 * x + 3] = UInt8(min(max(opacity * (1 / 32) + 0.5, 0), 255))
      }
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
          input, run.alpha(0), run.excess, run.backdrop.row(y, plane: 0), &key, shape.width, row)
        unsafe run.light?.addPixels(y, to: row, run.alpha(0), step: 1, isDeep: isDeep)
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
            input, run.alpha(row), run.excess, run.backdrop.row(y + row, plane: 0), &key,
            luma.width, output)
          unsafe run.light?.addPixels(
            y + row, to: output, run.alpha(row), step: 1, isDeep: isDeep)
        }
      }
      unsafe rows.mean_alpha(run.alpha(0), run.alpha(count - 1), luma.width, run.mean)
      let behind = unsafe run.backdrop.row(y / 2, plane: 1)
      if chroma.step == 2 {
        unsafe chromaOutputs[0].write(y / 2, rows) { row in
          unsafe blendChroma(
            u, v, 2, run.mean, run.excess, behind, behind + 1, &key, chroma.width, row,
            row + sample)
          unsafe run.light?.addChroma(
            y, to: row, row + sample, run.mean, chroma, luma.width, isDeep: isDeep)
        }
      } else {
        unsafe chromaOutputs[0].write(y / 2, rows) { first in
          unsafe chromaOutputs[1].write(y / 2, rows) { second in
            unsafe blendChroma(
              u, v, 1, run.mean, run.excess, behind, run.backdrop.row(y / 2, plane: 2), &key,
              chroma.width, first, second)
            unsafe run.light?.addChroma(
              y, to: first, second, run.mean, chroma, luma.width, isDeep: isDeep)
          }
        }
      }
    }
  }

  /// The models of rows of pixels, and rows of alpha. Owned by one band.
  @safe
  fileprivate final class MatteRows {
    private let blend: MatteBlend
    let backdrop: any BackdropRows
    let light: LightRows?
    private let models: ExpandedRows
    private let memory: FloatMemory

    init(
      _ blend: MatteBlend, _ models: FloatPlanes, _ backdrop: any BackdropRows,
      _ light: EdgeLight?
    ) {
      self.blend = blend
      self.backdrop = backdrop
      self.light = light.map { LightRows($0) }
      self.models = ExpandedRows(
        models, factor: blend.reduction.factor, matrix: blend.matrix)
      self.memory = FloatMemory(count: 6 * self.models.stride)
    }

    /// Alpha of one of two rows.
    func alpha(_ row: Int) -> UnsafeMutablePointer<Float> {
      unsafe self.memory[row * self.models.stride]
    }
    /// The mean alpha of chroma samples.
    var mean: UnsafeMutablePointer<Float> { unsafe self.memory[2 * self.models.stride] }
    /// The excess of the key's channel.
    var excess: UnsafeMutablePointer<Float> { unsafe self.memory[3 * self.models.stride] }

    /// Chroma above grey, per pixel; 0 in grey formats.
    var cb: UnsafeMutablePointer<Float> { unsafe self.memory[4 * self.models.stride] }
    var cr: UnsafeMutablePointer<Float> { unsafe self.memory[5 * self.models.stride] }

    /// Calls `body` with the models above and below a row of pixels.
    func withModels(_ y: Int, _ body: (inout sl_matte) -> Void) {
      let edges = self.blend.edges
      let rows = self.models.rows(about: Double(y))
      var matte = unsafe sl_matte(
        upper: rows.upper, lower: rows.lower, stride: rows.stride,
        fraction: rows.fraction, low: Float(edges.low),
        slope: Float(1 / (edges.high - edges.low)))
      unsafe body(&matte)
    }
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
