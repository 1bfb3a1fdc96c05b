import CKernels

/// A chain of colour matrices and fields on BGRA, RGBA or RGB bytes, in integers.
///
/// If the byte order of the output differs from that of the input, the pass reorders the channels.
package final class FoldedPixelsPass: Pass {
  package let description: PassDescription
  private let fold: sl_chain
  private let fieldRows: FieldRows
  /// Whether to set alpha to 255.
  private let setsOpaque: Bool

  /// Creates the pass.
  ///
  /// - Returns: `nil` for other formats, if alpha affects the result, and if the coefficients do
  ///   not fit the integers. A strip pass is used then.
  package init?(
    description: PassDescription, form: NormalForm, from source: FrameGeometry,
    to target: FrameGeometry,
    budget: PlanBudget
  ) {
    // Channels in memory order.
    guard let inputOrder = PixelOrder.colors(of: source.format),
      let order = PixelOrder.colors(of: target.format)
    else { return nil }
    let isIdentity = form.matrix == .identity && form.fields.isEmpty
    switch (source.alpha, target.alpha) {
    case (.opaque, _): self.setsOpaque = source.format.hasAlpha && target.alpha != .opaque
    case (.straight, .straight): self.setsOpaque = false
    // Other premultiplied results would have to be limited to alpha.
    case (.premultiplied, .premultiplied) where isIdentity: self.setsOpaque = false
    default: return nil
    }
    let matrix = form.matrix
    let rows = [matrix.red, matrix.green, matrix.blue]
    let weights = order.map { row in (inputOrder + [3]).map { rows[row][$0] } }
    let largest = weights.joined().reduce(0) { max($0, abs($1)) }
    var shift = 13
    while shift > 10, largest * Double(1 << shift) > 32766 { shift -= 1 }
    guard largest * Double(1 << shift) <= 32766 else { return nil }
    let unit = Double(1 << shift)
    var fold = sl_chain()
    fold.shift = Int32(shift)
    func quad(_ weights: [Double]) -> (Int16, Int16, Int16, Int16) {
      let fixed = weights.map { Int16(($0 * unit).rounded()) }
      return (fixed[0], fixed[1], fixed[2], fixed[3])
    }
    fold.coefficients = (quad(weights[0]), quad(weights[1]), quad(weights[2]))
    let bias = order.map { (matrix.bias[$0] * 255 * unit).rounded() }
    guard bias.allSatisfy({ abs($0) < 1e9 }) else { return nil }
    fold.bias = (Int32(bias[0]), Int32(bias[1]), Int32(bias[2]))

    let used = form.biases.indices.dropLast().filter { form.biases[$0] != .zero }
    guard used.count <= Int(SL_CHAIN_TERMS) else { return nil }
    func triple(_ bias: SIMD4<Double>, _ scale: Double) -> (Int16, Int16, Int16)? {
      let fixed = order.map { (bias[$0] * 255 * scale).rounded() }
      guard fixed.allSatisfy({ abs($0) < 32000 }) else { return nil }
      return (Int16(fixed[0]), Int16(fixed[1]), Int16(fixed[2]))
    }
    fold.term_count = Int32(used.count)
    unsafe withUnsafeMutableBytes(of: &fold.terms) { bytes in
      let terms = unsafe bytes.bindMemory(to: (Int16, Int16, Int16).self)
      for (index, group) in used.enumerated() {
        unsafe terms[index] = triple(form.biases[group], 32) ?? (0, 0, 0)
      }
    }
    guard used.allSatisfy({ triple(form.biases[$0], 32) != nil }),
      let last = triple(form.biases.last ?? .zero, 16)
    else { return nil }
    fold.last = last
    guard
      let fieldRows = FieldRows.sampling(
        form.fields, products: used.map { $0 + 1 }, size: source.size, budget: budget)
    else { return nil }
    self.fold = fold
    self.fieldRows = fieldRows
    self.description = description
  }

  /// Each output sample depends on the input samples at its position, which its band reads first.
  /// Where 2x2 pixels share chroma, one band reads all of them before it writes.
  package var worksInPlace: Bool { true }

  package func run(_ context: PassContext) async {
    let size = context.output.size
    let cost = Double(size.pixelCount) * (0.25 + 0.15 * Double(self.fieldRows.count))
    await context.bands.run(rows: size.height, nanoseconds: cost) { band in
      self.run(band, context)
    }
  }

  private func run(_ band: Range<Int>, _ context: PassContext) {
    let rows = unsafe sl_rows_current().pointee
    let width = context.output.size.width
    var fold = self.fold
    let memory = SampleMemory(count: max(1, self.fieldRows.count * width))
    let pointers = unsafe (0 ..< 4).map { index in
      unsafe UnsafePointer(memory[min(index, max(0, self.fieldRows.count - 1)) * width])
    }
    let source = PixelStaging(context.inputs[0].view)
    let target = PixelStaging(context.output.view)
    for y in band {
      let input = unsafe source.input(y, rows)
      unsafe target.withOutput(y, rows) { output in
        if self.fieldRows.count == 0 {
          unsafe rows.folded_pixels(input, width, &fold, output)
        } else {
          unsafe self.fieldRows.fill(
            memory[0], y: y, width: width, time: context.time, rows: rows)
          unsafe pointers.withUnsafeBufferPointer {
            unsafe rows.folded_pixels_fields(
              input, width, &fold, $0.baseAddress.unsafelyUnwrapped, output)
          }
        }
        if self.setsOpaque { unsafe rows.set_opaque(output, width) }
      }
    }
  }
}
