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
