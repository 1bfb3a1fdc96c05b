import CKernels

/// Pixels to I420, NV12 or grey, with a colour matrix in between, in integers.
final class PixelsToPlanesPass: Pass {
  let description: PassDescription
  /// For luma, Cb and Cr the weights of a pixel's four bytes in units of 1/8192.
  private let weights: [[Int16]]
  /// For luma in units of 1/8192 level, for chroma of 1/32768; with one half for rounding.
  private let biases: [Int32]
  private let premultiplies: Bool
  /// The conversion to luma and chroma for a fourth byte without weight; more precise.
  private let opaque: sl_pixels_to_yuv?

  /// Creates the pass.
  ///
  /// - Returns: `nil` for other formats, and if the weights do not fit the integers.
  init?(
    description: PassDescription, matrix: ColorMatrix, from source: FrameGeometry,
    to target: FrameGeometry
  ) {
    guard target.format.isYUV || target.format == .gray8,
      let order = PixelOrder.colors(of: source.format)
    else { return nil }
    let isOpaque = source.alpha == .opaque
    // A composition on black premultiplies colour, and multiplies the matrix's bias by alpha.
    let matrix = isOpaque ? matrix.opaque : matrix.premultiplied
    let coding = YUVCoding(target.color)
    let map = AffineCoding(inputs: 4) { code in
      var color: SIMD4<Double> = [0, 0, 0, isOpaque ? 1 : code[3] / 255]
      for (index, channel) in order.enumerated() { color[channel] = code[index] / 255 }
      let result = matrix(color)
      return target.format.isYUV
        ? [coding.luma(result)] + coding.chroma(result)
        : [(result * SIMD4(ColorMatrix.luma, 0)).sum() * 255]
    }
    guard let weights = map.fixedWeights else { return nil }
    self.weights = weights
    self.biases = map.biases.enumerated().map { row, bias in
      let unit = row == 0 ? 8192.0 : 32768.0
      return Int32((bias * unit + unit / 2).rounded())
    }
    self.premultiplies = source.alpha == .straight
    self.opaque = target.format.isYUV ? sl_pixels_to_yuv(map) : nil
    self.description = description
  }

  func run(_ context: PassContext) async {
    let size = context.output.size
    let hasChroma = context.output.format.isYUV
    await context.bands.run(
      rows: size.height, alignment: 2, nanoseconds: Double(size.pixelCount) * 0.2
    ) { band in
      self.run(band, context, hasChroma)
    }
  }

  private func run(_ band: Range<Int>, _ context: PassContext, _ hasChroma: Bool) {
    let rows = unsafe sl_rows_current().pointee
    let size = context.output.size
    let half = (size.width + 1) / 2
    let memory = SampleMemory(count: 2 * half)
    defer { extendLifetime(memory) }
    let (us, vs) = unsafe (memory[0], memory[half])
    let upperStaging = PixelStaging(context.inputs[0].view)
    let lowerStaging = PixelStaging(context.inputs[0].view)
    let output = FoldedChroma(context.output.view)
    let chromaBiases = Array(self.biases.dropFirst())
    for y in stride(from: band.lowerBound, to: band.upperBound, by: 2) {
      let second = min(y + 1, size.height - 1)
      let upper = unsafe self.row(upperStaging, y, rows)
      let lower = unsafe second > y ? self.row(lowerStaging, second, rows) : upper
      if var conversion = self.opaque {
        let chroma = unsafe output.rows(y)
        unsafe rows.pixels_to_yuv(
          upper, lower, &conversion, size.width, output.step, output.luma(y),
          output.luma(second), chroma.u, chroma.v)
        continue
      }
      unsafe rows.pixels_to_luma(
        upper, self.weights[0], self.biases[0], size.width, output.luma(y))
      if second > y {
        unsafe rows.pixels_to_luma(
          lower, self.weights[0], self.biases[0], size.width, output.luma(second))
      }
      guard hasChroma else { continue }
      unsafe rows.pixels_to_chroma(
        upper, lower, self.weights[1], self.weights[2], chromaBiases, size.width, us, vs)
      let chroma = unsafe output.rows(y)
      unsafe rows.store_chroma_rows(us, vs, output.step, half, chroma.u, chroma.v)
    }
  }

  private func row(
    _ staging: borrowing PixelStaging, _ y: Int, _ rows: sl_rows
  ) -> UnsafePointer<UInt8> {
    unsafe self.premultiplies ? staging.premultiplied(y, rows) : staging.input(y, rows)
  }
}

extension sl_pixels_to_yuv {
  /// Creates the conversion of four bytes to luma, Cb and Cr.
  ///
  /// - Returns: `nil` if the fourth byte has a weight, or if a weight does not fit the integers.
  fileprivate init?(_ map: AffineCoding) {
    self.init()
    typealias Weights = (Int16, Int16, Int16, Int16)
    func fixed(_ row: Int, unit: Double) -> Weights? {
      let weights = map.weights[row].map { ($0 * unit).rounded() }
      let green = (weights[1] / 2).rounded()
      let parts = [weights[0], green, weights[2], weights[1] - green]
      guard map.weights[row][3] == 0, parts.allSatisfy({ abs($0) <= 32767 }) else { return nil }
      return (Int16(parts[0]), Int16(parts[1]), Int16(parts[2]), Int16(parts[3]))
    }
    guard let luma = fixed(0, unit: 65536), let cb = fixed(1, unit: 16384),
      let cr = fixed(2, unit: 16384), map.biases.allSatisfy({ abs($0) < 1000 })
    else { return nil }
    self.luma = luma
    self.chroma = (cb, cr)
    let biases = map.biases.map { Int32(($0 * 65536 + 32768).rounded()) }
    self.biases = (biases[0], biases[1], biases[2])
  }
}

/// I420, NV12 or grey to pixels, with a colour matrix in between, in integers. The contribution of
/// chroma to a channel is computed once for the two rows that share it.
final class PlanesToPixelsPass: Pass {
  let description: PassDescription
  /// The weight of luma per byte of a pixel, in units of 1/8192.
  private let luma: [Int16]
  /// The weights of Cb and Cr per byte of a pixel, in units of 1/8192.
  private let chroma: [Int16]
  /// In units of 1/32 level.
  private let biases: [Int16]

  /// Creates the pass.
  ///
  /// - Returns: `nil` for other formats, and if the weights do not fit the integers.
  init?(
    description: PassDescription, matrix: ColorMatrix, from source: FrameGeometry,
    to target: FrameGeometry
  ) {
    guard source.format.isYUV || source.format == .gray8,
      let order = PixelOrder.colors(of: target.format)
    else { return nil }
    let coding = YUVCoding(source.color)
    let map = AffineCoding(inputs: 3) { code in
      let color =
        source.format.isYUV
        ? coding.decode(code[0], code[1], code[2])
        : [code[0] / 255, code[0] / 255, code[0] / 255, 1]
      let result = matrix.opaque(color)
      return order.map { result[$0] * 255 }
    }
    guard let weights = map.fixedWeights else { return nil }
    // Neither the contribution of chroma nor its sum with luma may exceed the range of 1/32 levels.
    for (row, bias) in zip(map.weights, map.biases) {
      guard abs(bias) + 255 * (abs(row[1]) + abs(row[2])) < 1000,
        row.reduce(bias, { $0 + max(0, 255 * $1) }) < 1000,
        row.reduce(bias, { $0 + min(0, 255 * $1) }) > -1000
      else { return nil }
    }
    self.luma = weights.map { $0[0] }
    self.chroma = weights.flatMap { $0.dropFirst() }
    self.biases = map.biases.map { Int16(($0 * 32).rounded()) }
    self.description = description
  }

  func run(_ context: PassContext) async {
    let size = context.output.size
    await context.bands.run(
      rows: size.height, alignment: 2, nanoseconds: Double(size.pixelCount) * 0.15
    ) { band in
      self.run(band, context)
    }
  }

  private func run(_ band: Range<Int>, _ context: PassContext) {
    let rows = unsafe sl_rows_current().pointee
    let size = context.output.size
    let half = (size.width + 1) / 2
    // The contributions to three channels, all from the start of a cache line.
    let stride = (half + 31) / 32 * 32
    let memory = SampleMemory(count: 3 * stride)
    defer { extendLifetime(memory) }
    let contributions = unsafe (0 ..< 3).map { unsafe memory[$0 * stride] }
    let constContributions = unsafe contributions.map { unsafe UnsafePointer($0) }
    let staging = PixelStaging(context.output.view)
    let hasChroma = context.inputs[0].format.isYUV
    let source = FoldedChroma(context.inputs[0].view)
    for (channel, bias) in self.biases.enumerated() {
      unsafe contributions[channel].update(repeating: bias, count: half)
    }
    for y in band {
      if hasChroma, y.isMultiple(of: 2) {
        let chroma = unsafe source.rows(y)
        unsafe rows.chroma_contributions(
          chroma.u, chroma.v, source.step, half, self.chroma, self.biases, contributions)
      }
      unsafe staging.withOutput(y, rows) { pixels in
        unsafe rows.luma_to_pixels(
          source.luma(y), constContributions, self.luma, size.width, pixels)
      }
    }
  }
}

/// Rows of four-byte pixels: the raster's rows, or a scratch row if the raster has three bytes per
/// pixel. Owned by one band.
@safe
struct PixelStaging: ~Copyable {
  private let raster: RasterView
  private let scratch: UnsafeMutablePointer<UInt8>
  private let hasThreeBytes: Bool

  init(_ raster: RasterView) {
    self.raster = raster
    self.hasThreeBytes = raster.format == .rgb24
    unsafe self.scratch = .allocate(capacity: 4 * raster.size.width)
    unsafe self.scratch.initialize(repeating: 0, count: 4 * raster.size.width)
  }

  deinit {
    unsafe self.scratch.deallocate()
  }

  /// Returns a row to be read.
  func input(_ y: Int, _ rows: sl_rows) -> UnsafePointer<UInt8> {
    let row = unsafe self.raster.row(y).assumingMemoryBound(to: UInt8.self)
    guard self.hasThreeBytes else { return unsafe UnsafePointer(row) }
    unsafe rows.rgb_to_rgba(row, self.raster.size.width, self.scratch)
    return unsafe UnsafePointer(self.scratch)
  }

  /// Calls `body` with a row to be written.
  func withOutput(
    _ y: Int, _ rows: sl_rows, _ body: (UnsafeMutablePointer<UInt8>) -> Void
  ) {
    let row = unsafe self.raster.row(y).assumingMemoryBound(to: UInt8.self)
    guard self.hasThreeBytes else { return unsafe body(row) }
    unsafe body(self.scratch)
    unsafe rows.rgba_to_rgb(self.scratch, self.raster.size.width, row)
  }

  /// Returns a row to be read, with colour multiplied by alpha.
  func premultiplied(_ y: Int, _ rows: sl_rows) -> UnsafePointer<UInt8> {
    let row = unsafe self.raster.row(y).assumingMemoryBound(to: UInt8.self)
    let changes = unsafe rows.premultiply_pixels(row, self.raster.size.width, self.scratch)
    return unsafe UnsafePointer(changes != 0 ? self.scratch : row)
  }
}

/// The rows of a 4:2:0 raster of bytes.
@safe
struct FoldedChroma {
  private let raster: RasterView
  /// Bytes from one chroma sample to the next: 1 in I420, 2 in NV12.
  let step: Int

  init(_ raster: RasterView) {
    self.raster = raster
    self.step = raster.format == .nv12 ? 2 : 1
  }

  /// A row of luma.
  func luma(_ y: Int) -> UnsafeMutablePointer<UInt8> {
    unsafe self.raster.row(y).assumingMemoryBound(to: UInt8.self)
  }

  /// The chroma of a row of luma.
  func rows(_ y: Int) -> (u: UnsafeMutablePointer<UInt8>, v: UnsafeMutablePointer<UInt8>) {
    let u = unsafe self.raster.row(y / 2, plane: 1).assumingMemoryBound(to: UInt8.self)
    guard self.step == 1 else { return unsafe (u, u + 1) }
    return unsafe (u, self.raster.row(y / 2, plane: 2).assumingMemoryBound(to: UInt8.self))
  }
}
