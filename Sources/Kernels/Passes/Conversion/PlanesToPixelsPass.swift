import CKernels

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
