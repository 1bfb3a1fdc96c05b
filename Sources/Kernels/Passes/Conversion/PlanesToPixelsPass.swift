import CKernels

/// I420, NV12 or grey to pixels, with a colour matrix in between, in integers. The contribution of
/// chroma to each channel is computed once for the two rows that share it.
final class PlanesToPixelsPass: Pass {
  let description: PassDescription
  /// For each byte of a pixel the weights of luma, Cb and Cr in units of 1/8192.
  private let weights: [[Int16]]
  private let luma: [Int16]
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
    // The contribution of chroma must not saturate before luma is added.
    for (row, bias) in zip(map.weights, map.biases) {
      guard abs(bias) + 255 * (abs(row[1]) + abs(row[2])) < 1000 else { return nil }
    }
    self.weights = weights
    self.luma = weights.map { $0[0] }
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
    // The contributions to three channels, with one sample to spare each, and a row of each chroma.
    let memory = SampleMemory(count: 5 * (half + 1))
    defer { extendLifetime(memory) }
    let us = unsafe memory[3 * (half + 1)]
    let vs = unsafe memory[4 * (half + 1)]
    let contributions = unsafe (0 ..< 3).map { unsafe UnsafePointer(memory[$0 * (half + 1)]) }
    let staging = PixelStaging(context.output.view)
    let hasChroma = context.inputs[0].format.isYUV
    let source = FoldedChroma(context.inputs[0].view)
    for channel in 0 ..< 3 {
      unsafe memory[channel * (half + 1)].update(repeating: self.biases[channel], count: half + 1)
    }
    for y in band {
      if hasChroma, y.isMultiple(of: 2) {
        let chroma = unsafe source.rows(y)
        unsafe rows.load_chroma_rows(chroma.u, chroma.v, source.step, half, us, vs)
        for channel in 0 ..< 3 {
          let weights: [Int16] = [0, self.weights[channel][1], self.weights[channel][2]]
          unsafe rows.combine_planes(
            us, us, vs, weights, self.biases[channel], half, memory[channel * (half + 1)])
        }
      }
      unsafe staging.withOutput(y, rows) { pixels in
        unsafe rows.luma_to_pixels(source.luma(y), contributions, self.luma, size.width, pixels)
      }
    }
  }
}
